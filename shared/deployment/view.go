package deployment

import (
	"devplatform/shared/clock"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/site"
)

// DeploymentItem is a deployment as clients see it.
type DeploymentItem struct {
	ID         string           `json:"id" doc:"The deployment's ID" example:"dpl_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	ProjectID  string           `json:"projectId" doc:"The project's ID" example:"prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Number     int              `json:"number" doc:"The number in the project, counted from 1" example:"7"`
	Status     Status           `json:"status" enum:"queued,building,ready,failed,canceled" doc:"The state of the deployment" example:"ready"`
	Target     Target           `json:"target" enum:"production,preview" doc:"production: goes live at the address of the site; preview: has only its own address" example:"production"`
	URL        string           `json:"url" doc:"The deployment's own address, which never changes. It works while the status is ready" example:"https://todo-list--k3j5n2m4p6q7r2s4.example.app"`
	Message    string           `json:"message" doc:"The message of the request" example:"New colors"`
	Files      int              `json:"files" doc:"The number of files of the output. 0 until the deployment is ready" example:"12"`
	Bytes      int              `json:"bytes" doc:"The size of the output in bytes. 0 until the deployment is ready" example:"48213"`
	Live       bool             `json:"live" doc:"Whether the address of the site shows this deployment" example:"true"`
	CreatedBy  creator          `json:"createdBy" doc:"The user who requested the deployment"`
	CreatedAt  clock.Timestamp  `json:"createdAt" doc:"When the deployment was requested" example:"2026-01-31T08:15:30.123Z"`
	StartedAt  *clock.Timestamp `json:"startedAt" nullable:"true" doc:"When the build began, null if it has not" example:"2026-01-31T08:15:30.223Z"`
	ReadyAt    *clock.Timestamp `json:"readyAt" nullable:"true" doc:"When the deployment became ready, null if it has not" example:"2026-01-31T08:15:31.123Z"`
	DurationMS *int             `json:"durationMs" nullable:"true" doc:"The time from the start of the build to its end in milliseconds, null if it has not ended" example:"900"`
	Error      *buildError      `json:"error" doc:"Why the build failed, null if it has not"`
}

// buildError is a failure.Error as clients see it.
type buildError struct {
	Code    failure.Code `json:"code" doc:"The reason, for programs" enum:"BUILD_FAILED,ENTRY_NOT_FOUND,DEPENDENCY_NOT_FOUND,DEPENDENCY_TOO_LARGE,FRAMEWORK_UNSUPPORTED,OUTPUT_TOO_LARGE,BUILD_TIMEOUT,BUILD_INTERRUPTED" example:"BUILD_FAILED"`
	Message string       `json:"message" doc:"What is wrong and what to change, for people" example:"Expected \";\" but found \"}\"."`
	Path    string       `json:"path,omitzero" doc:"The path of the file with the error" example:"/src/app.tsx"`
	Line    int          `json:"line,omitzero" doc:"The line, counted from 1" example:"12"`
	Column  int          `json:"column,omitzero" doc:"The column in characters, counted from 1" example:"5"`
}

// creator is a user who requested a deployment.
type creator struct {
	ID       string `json:"id" doc:"The user's ID" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Username string `json:"username" doc:"The user's username" example:"ada"`
}

// view returns a deployment as clients see it.
func (s *Service) view(d Deployment, of Site) DeploymentItem {
	v := DeploymentItem{
		ID: d.ID, ProjectID: d.ProjectID, Number: d.Number, Status: d.Status, Target: d.Target,
		URL: site.URL(s.store.Origin, d.Label), Message: d.Message, Files: d.Files, Bytes: d.Bytes,
		Live: of.DeploymentID == d.ID, CreatedBy: creator(d.CreatedBy), CreatedAt: d.CreatedAt,
		StartedAt: d.StartedAt, ReadyAt: d.ReadyAt, Error: (*buildError)(d.Error),
	}
	if d.StartedAt != nil && d.EndedAt != nil {
		ms := int(d.EndedAt.Time().Sub(d.StartedAt.Time()).Milliseconds())
		v.DurationMS = &ms
	}
	return v
}

// SiteItem is a site as clients see it.
type SiteItem struct {
	Label        string          `json:"label" doc:"The first part of the host name of the site" example:"todo-list"`
	URL          string          `json:"url" doc:"The address of the site" example:"https://todo-list.example.app"`
	SPA          bool            `json:"spa" doc:"Whether a path without a file shows /index.html. The first deployment sets it if the framework of the project is react" example:"false"`
	DeploymentID *string         `json:"deploymentId" nullable:"true" doc:"The ID of the live deployment, null if the site is offline" example:"dpl_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	UpdatedAt    clock.Timestamp `json:"updatedAt" doc:"When the label, the setting or the live deployment last changed" example:"2026-01-31T08:15:30.123Z"`
}

func (s *Service) siteView(of Site) SiteItem {
	v := SiteItem{Label: of.Label, URL: site.URL(s.store.Origin, of.Label), SPA: of.SPA, UpdatedAt: of.UpdatedAt}
	if of.DeploymentID != "" {
		v.DeploymentID = &of.DeploymentID
	}
	return v
}

// DeploymentFile is a file of the output of a deployment as clients see it.
type DeploymentFile struct {
	Path        string `json:"path" doc:"The path of the file" example:"/index.html"`
	Size        int    `json:"size" doc:"The size in bytes" example:"482"`
	SHA256      string `json:"sha256" doc:"The SHA-256 of the content in hexadecimal" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	ContentType string `json:"contentType" doc:"The content type" example:"text/html; charset=utf-8"`
}

// manifest is the manifest of a deployment.
type manifest = site.Manifest
