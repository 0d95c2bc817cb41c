package project

import "github.com/danielgtaylor/huma/v2"

// The groups under which the endpoints are shown.
const (
	tagProjects = "Projects"
	tagComments = "Comments"
	tagFiles    = "Files"
)

// Register adds the endpoints of API.md §4 and §5.
func (s *Service) Register(h huma.API) {
	s.registerProjects(h)
	s.registerComments(h)
	s.registerFiles(h)
}

// Where an operation is answered.
const (
	projectsPath = "/api/projects"
	projectPath  = projectsPath + "/{id}"
)

// InProject are the inputs that begin with a project's id. (Exported for huma's sake, as every embedded struct.)
type InProject struct {
	ProjectID string `path:"id" doc:"The project's id" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}
