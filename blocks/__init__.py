from .component import *
from .domain import Domain
from .expression import *
from .model import Model
from .units import quantity
