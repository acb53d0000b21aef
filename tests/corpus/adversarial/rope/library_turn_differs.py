"""Functions of that name that turn neighbours, or are not in sight."""
from transformers.models.cohere.modeling_cohere import rotate_half as cohere_half
from transformers.models.glm.modeling_glm import rotate_half as glm_half
from transformers.models.unheard_of.modeling_unheard_of import rotate_half as unheard_half
from somewhere.else_ import rotate_half


def of_cohere(x, cos, sin):
    return (x * cos) + (cohere_half(x) * sin)  # clean: neighbours


def of_glm(x, cos, sin):
    return (x * cos) + (glm_half(x) * sin)  # clean: neighbours


def of_an_unknown_model(x, cos, sin):
    return (x * cos) + (unheard_half(x) * sin)  # clean: not known


def of_another_project(x, cos, sin):
    return (x * cos) + (rotate_half(x) * sin)  # clean: not known
