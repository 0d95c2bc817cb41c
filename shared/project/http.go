package project

import (
	"devplatform/shared/httpapi"
	"devplatform/shared/project/file"
)

// The tags of the endpoints in the API documentation.
var (
	tagProjects = httpapi.Tag{
		Name: "Projects",
		Description: "A project belongs to a workspace and has a name, a framework and files. Its visibility defines who " +
			"can see it: " +
			"its creator and the admins and owners of the workspace (private), all members of the workspace (team), or all " +
			"signed-in users (public).",
	}
	tagComments = httpapi.Tag{
		Name: "Comments", Description: "Members of the workspace comment on a project, on one of its files or on a line of a file.",
	}
)

const (
	projectsPath = "/api/projects"
	projectPath  = projectsPath + "/{id}"
)

// InProject is the path parameter of the endpoints whose paths contain a project's ID.
type InProject = file.InProject

// Register adds the endpoints of projects, their variables, their events and their comments.
func (s *Service) Register(r *httpapi.Routes) {
	s.registerProjects(r)
	s.registerVariables(r)
	s.registerEvents(r)
	s.registerComments(r)
}
