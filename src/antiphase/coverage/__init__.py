"""Which instructions the assembler accepts and antiphase parses and executes, and what each one is."""

from antiphase.coverage._classes import CLASSES, GRAPHICS, instruction_class
from antiphase.coverage._list import Row, instructions
from antiphase.coverage._sheet import Meaning, Sheet, known_names, sheet
from antiphase.coverage._survey import Entry, Status, Survey, survey

__all__ = [
    "CLASSES",
    "GRAPHICS",
    "Entry",
    "Meaning",
    "Row",
    "Sheet",
    "Status",
    "Survey",
    "instruction_class",
    "instructions",
    "known_names",
    "sheet",
    "survey",
]
