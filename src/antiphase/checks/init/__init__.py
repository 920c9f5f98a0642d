"""`init`: reads of registers, LDS or memory that nothing has written."""

from antiphase.checks.init._check import check_init
from antiphase.checks.init._registers import check_registers

__all__ = [
    "check_init",
    "check_registers",
]
