package project

import (
	"devplatform/shared/httpapi"
	"devplatform/shared/project/file"
)

// The groups of the endpoints in the API's documentation.
var (
	tagProjects = httpapi.Tag{
		Name: "Projects",
		Description: "A project belongs to a workspace, has a name, a framework and files, and is seen by its creator and the workspace's admins (private), " +
			"by the workspace (team) or by everybody who is signed in (public).",
	}
	tagComments = httpapi.Tag{Name: "Comments", Description: "What members of the workspace say about a project, a file of it, or a line."}
)

const (
	projectsPath = "/api/projects"
	projectPath  = projectsPath + "/{id}"
)

// InProject is the part of inputs that names a project.
type InProject = file.InProject

type doneOutput struct{ Body httpapi.Done }

// Register adds the endpoints of projects, their events and their comments.
func (s *Service) Register(r *httpapi.Routes) {
	s.registerProjects(r)
	s.registerEvents(r)
	s.registerComments(r)
}
