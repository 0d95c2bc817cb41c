// Package assistant is the AI assistant: conversations about projects, what a model is told of a project and how its answers become
// checked actions, generated code, quotas, and the endpoints of API.md §6. The models are in packages of their own below this one
// and are known here as model.Provider alone; projects and their files belong to package project.
package assistant
