"""torch scripts that say device='cuda'; run where torch is installed."""

import pytest

torch = pytest.importorskip("torch")

from antiphase import arch  # noqa: E402
from antiphase.frontends._device import DeviceInterface  # noqa: E402
from antiphase.frontends._torch import cuda_on_cpu  # noqa: E402


def test_cuda_means_cpu_inside_the_block_only():
    available = torch.cuda.is_available()
    with cuda_on_cpu(DeviceInterface(arch.target("gfx942")), lambda _: None):
        made = torch.rand(3, device="cuda")
        moved = [
            torch.ones(2).cuda(),
            torch.ones(2).to("cuda:0", torch.float16),
            torch.ones(2).to(torch.device("cuda")),
        ]
        assert all(tensor.is_cuda and tensor.device.type == "cpu" for tensor in [made, *moved])
        assert moved[1].dtype == torch.float16
        assert torch.cuda.is_available() and torch.cuda.current_device() == 0
        assert torch.cuda.get_device_properties("cuda").gcnArchName == "gfx942"
        assert torch.version.hip
    assert torch.cuda.is_available() == available
    assert not torch.ones(2).is_cuda


def test_addresses_the_script_asks_for_are_reported():
    asked: list[object] = []
    with cuda_on_cpu(DeviceInterface(arch.target("gfx942")), asked.append):
        tensor = torch.ones(4)
        tensor.data_ptr()
    assert asked == [tensor] or asked[0] is tensor


def test_layer_norm_of_halves_sums_in_float32():
    """As on a GPU; the CPU's own backward pass is off by several units in the last place."""
    torch.manual_seed(0)
    x, grad = torch.randn(151, 64).half(), 0.1 * torch.randn(151, 64).half()
    weight, bias = torch.ones(64).half().requires_grad_(), torch.zeros(64).half().requires_grad_()
    with cuda_on_cpu(DeviceInterface(arch.target("gfx942")), lambda _: None):
        out = torch.nn.functional.layer_norm(x, (64,), weight, bias)
        out.backward(grad)
    assert out.dtype == weight.grad.dtype == torch.float16
    normal = torch.nn.functional.layer_norm(x.double(), (64,))
    for found, exact in ((bias.grad, grad.double().sum(0)), (weight.grad, (grad * normal).sum(0))):
        assert (found - exact).abs().max() <= exact.abs().max() * torch.finfo(torch.float16).eps


def test_streams_can_be_set_by_the_device_type_the_driver_names():
    with cuda_on_cpu(DeviceInterface(arch.target("gfx942")), lambda _: None):
        for module in (torch.cuda, torch.cpu):
            module.set_stream(module.Stream())
    assert not hasattr(torch.cpu, "set_stream")


def test_empty_tensors_hold_nothing():
    from antiphase.machine.uninitialised import unwritten

    with cuda_on_cpu(DeviceInterface(arch.target("gfx942")), lambda _: None):
        made = [torch.empty(64, device="cuda"), torch.empty_like(torch.ones(64)), torch.ones(2).new_empty(64)]
        zeros = torch.zeros(64, device="cuda")
    for one in made:
        assert unwritten([(one.data_ptr(), 256)]).tolist() == [[one.data_ptr(), one.data_ptr() + 256]]
    assert not len(unwritten([(zeros.data_ptr(), 256)]))
