"""Rewrites forms that kernels may be written in to those that the other passes know."""

from codegen.xe.passes.forms.rewrite_forms import RewriteFormsPass, rewrite_forms

__all__ = ["RewriteFormsPass", "rewrite_forms"]
