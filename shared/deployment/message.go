package deployment

import (
	"github.com/go-json-experiment/json"

	"devplatform/shared/id"
)

// Message is the body of a message that wakes a worker for a deployment.
type Message struct {
	ProjectID    string `json:"projectId"`
	DeploymentID string `json:"deploymentId"`
}

// MessageOf returns the body of the message for a deployment. The message group is the deployment's AccountID.
func MessageOf(d Deployment) (string, error) {
	body, err := json.Marshal(Message{d.ProjectID, d.ID})
	return string(body), err
}

// ParseMessage parses the body of a message. It reports false if the body is not valid.
func ParseMessage(body string) (m Message, ok bool) {
	err := json.Unmarshal([]byte(body), &m)
	return m, err == nil && id.Project.Valid(m.ProjectID) && id.Deployment.Valid(m.DeploymentID)
}
