// Package prompt is what a model is told and how its answers are read: the instructions, the project and the conversation inside of
// budgets, files that a message names, the code in an answer. It is pure: the same input gives the same request, byte for byte.
// Reading projects, storing conversations and calling models are others' business.
package prompt
