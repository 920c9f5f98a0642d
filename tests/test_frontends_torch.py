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
