package project

import (
	"devplatform/shared/httpapi"
)

// The groups under which the endpoints are shown.
var (
	tagProjects = httpapi.Tag{
		Name: "Projects",
		Description: "A project belongs to a workspace, has a name, a framework and files, and is seen by its creator and the workspace's admins (private), " +
			"by the workspace (team) or by everybody who is signed in (public).",
	}
	tagComments = httpapi.Tag{Name: "Comments", Description: "What members of the workspace say about a project, a file of it, or a line."}
	tagFiles    = httpapi.Tag{
		Name: "Files",
		Description: "A project's files by path, with their versions of the last 30 days. Whoever writes can say, with If-Match or an etag, which version they have seen; " +
			"several changes that belong together are made as one batch.",
	}
)

// Register adds the endpoints of API.md §4 and §5.
func (s *Service) Register(r *httpapi.Routes) {
	s.registerProjects(r)
	s.registerComments(r)
	s.registerFiles(r)
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
