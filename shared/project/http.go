package project

import (
	"github.com/danielgtaylor/huma/v2"

	"devplatform/shared/httpapi"
	"devplatform/shared/project/file"
)

// The groups under which the endpoints are shown.
var (
	tagProjects = httpapi.Tag{
		Name: "Projects",
		Description: "A project belongs to a workspace, has a name, a framework and files, and is seen by its creator and the workspace's admins (private), " +
			"by the workspace (team) or by everybody who is signed in (public).",
	}
	tagComments = httpapi.Tag{Name: "Comments", Description: "What members of the workspace say about a project, a file of it, or a line."}
)

// Register adds the endpoints of projects, their comments and their events.
func (s *Service) Register(h huma.API) {
	s.registerProjects(h)
	s.registerComments(h)
}

// Where an operation is answered.
const (
	projectsPath = "/api/projects"
	projectPath  = projectsPath + "/{id}"
)

// InProject is the part of inputs that names a project. (Exported for huma's sake, as every embedded struct.)
type InProject = file.InProject

// doneOutput is the answer that has nothing to show.
type doneOutput struct{ Body httpapi.Done }
