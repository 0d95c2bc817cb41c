package deployment

import (
	"devplatform/shared/httpapi"
	"devplatform/shared/project/file"
)

var tag = httpapi.Tag{
	Name: "Deployments",
	Description: "A deployment is an immutable build of the files of a project. A site is the address of a project, at " +
		"which one deployment is live. " +
		"Deploy, read the deployment until its status is ready, and open its URL.",
}

const (
	deploymentsPath = "/api/projects/{id}/deployments"
	deploymentPath  = deploymentsPath + "/{deploymentId}"
	sitePath        = "/api/projects/{id}/site"
)

// Register adds the endpoints of deployments and sites.
func (s *Service) Register(r *httpapi.Routes) {
	s.registerDeploy(r)
	s.registerDeployments(r)
	s.registerOutput(r)
	s.registerSite(r)
}

// Ref is the input of an operation on a deployment.
type Ref struct {
	file.InProject
	DeploymentID string `path:"deploymentId" doc:"The deployment's ID" example:"dpl_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}
