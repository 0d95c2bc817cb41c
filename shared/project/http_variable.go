package project

import (
	"fmt"
	"net/http"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/setting"
	"devplatform/shared/workspace"
)

const variablesPath = projectPath + "/variables"

func (s *Service) registerVariables(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "readVariables", Method: http.MethodGet, Path: variablesPath, Tag: tagProjects,
		Summary: "Read the variables of a project",
		Description: "The variables that builds of the project use. They override those in its .env files. " +
			"Requires membership in the workspace, also if the project is public.",
		Errors:        []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied},
		OtherStatuses: []int{http.StatusNotModified},
	}, s.handleReadVariables)
	httpapi.Private(r, httpapi.Operation{
		ID: "setVariables", Method: http.MethodPut, Path: variablesPath, Tag: tagProjects,
		Summary: "Replace the variables of a project",
		Description: "A build writes the values into the output, so every visitor of the site can read them. Deployments " +
			"that are already built do not change, also if they are promoted. " +
			"Without a precondition the last writer wins. If the list does not change, nothing is written and no event is " +
			"sent. The event has no names and values. " +
			"Requires the role member or higher in the workspace.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("variables[0].name", setting.CheckName(""))), workspace.ErrProjectNotFound,
			workspace.ErrDenied, httpapi.ErrIfMatch, httpapi.ErrIfNoneMatch, fault.ErrConflict,
		},
	}, s.handleSetVariables)
}

// variableList is the list of a project's variables, in the order in which it was set.
type variableList struct {
	Variables []setting.Variable `json:"variables" nullable:"false" maxItems:"100" doc:"At most 100 variables, whose names and values together have at most 32 KiB. There are not two with the same name and target"`
}

type readVariablesInput struct {
	InProject
	IfNoneMatch string `header:"If-None-Match" doc:"The entity tags of the versions that the client has cached" example:"\"3\""`
}

type setVariablesInput struct {
	InProject
	httpapi.ConditionInput
	Body variableList
}

// Validate checks the rules that tags cannot express. If the list is too large, it does not check the values.
func (in *setVariablesInput) Validate(v *httpapi.Validation) {
	size := 0
	for _, variable := range in.Body.Variables {
		size += variable.Bytes()
	}
	if size > setting.MaxVariableBytes {
		v.Field("variables", fmt.Sprintf("must have at most %d bytes in all names and values together",
			setting.MaxVariableBytes))
		return
	}
	type key struct {
		name   string
		target setting.Target
	}
	seen := map[key]bool{}
	for i, variable := range in.Body.Variables {
		name := fmt.Sprintf("variables[%d].name", i)
		v.Field(name, setting.CheckName(variable.Name))
		v.Field(fmt.Sprintf("variables[%d].value", i), setting.CheckValue(variable.Value))
		k := key{variable.Name, variable.Target}
		if seen[k] {
			v.Field(name, "must not be given more than once with the same target")
		}
		seen[k] = true
	}
}

type variablesOutput struct {
	Status int
	ETag   string `header:"ETag" doc:"The entity tag of the list"`
	Body   variableList
}

func (v variablesRecord) output() *variablesOutput {
	out := &variablesOutput{Status: http.StatusOK, ETag: v.etag(), Body: variableList{v.Variables}}
	if v.Variables == nil {
		out.Body.Variables = []setting.Variable{}
	}
	return out
}
