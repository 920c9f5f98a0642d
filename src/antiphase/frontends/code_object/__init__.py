"""Code objects (.hsaco, .co, .o) as assembly text, and so as Programs."""

from antiphase.frontends.code_object._object import disassemble, load

__all__ = ["disassemble", "load"]
