package project

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/event"
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
			"Requires membership in the workspace, even if the project is public.",
		Errors:        []*fault.Error{workspace.ErrProjectNotFound, workspace.ErrDenied},
		OtherStatuses: []int{http.StatusNotModified},
	}, s.readVariables)
	httpapi.Private(r, httpapi.Operation{
		ID: "setVariables", Method: http.MethodPut, Path: variablesPath, Tag: tagProjects,
		Summary: "Replace the variables of a project",
		Description: "A build writes the values into the output, so every visitor of the site can read them. Deployments " +
			"that are already built do not change, even if they are promoted. " +
			"Without a precondition the last writer wins. If the list does not change, nothing is written and no event is " +
			"sent. The event has no names and values. " +
			"Requires the role member or higher in the workspace.",
		Errors: []*fault.Error{
			fault.Invalid(fault.Field("variables[0].name", setting.CheckName(""))), workspace.ErrProjectNotFound,
			workspace.ErrDenied, httpapi.ErrIfMatch, httpapi.ErrIfNoneMatch, fault.ErrConflict,
		},
	}, s.setVariables)
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

func (s *Service) readVariables(
	ctx context.Context, caller httpapi.Caller, in *readVariablesInput,
) (*variablesOutput, error) {
	known, err := httpapi.ParsePreconditions("", in.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	_, v, err := s.openVariables(ctx, caller, in.ProjectID, workspace.Read)
	if err != nil {
		return nil, err
	}
	out := v.output()
	if known.NotModified(out.ETag) {
		out.Status = http.StatusNotModified
	}
	return out, nil
}

// setVariables replaces the variables of a project. If the list does not change, it writes nothing and emits no
// event. The event does not contain the variables.
func (s *Service) setVariables(
	ctx context.Context, caller httpapi.Caller, in *setVariablesInput,
) (*variablesOutput, error) {
	condition, err := in.Preconditions()
	if err != nil {
		return nil, err
	}
	var v variablesRecord
	err = db.Retry(ctx, "set the variables of a project", func(ctx context.Context) (err error) {
		var old projectRecord
		if old, v, err = s.openVariables(ctx, caller, in.ProjectID, workspace.Write); err != nil {
			return err
		}
		if err := condition.Check(v.etag()); err != nil {
			return err
		}
		if slices.Equal(v.Variables, in.Body.Variables) {
			return nil
		}
		now := s.now()
		next := old
		next.UpdatedAt, next.Revision = clock.Stamp(now), next.Revision+1
		v.Variables, v.Revision = in.Body.Variables, v.Revision+1
		e, err := s.outbox.Add(eventChange(event.ProjectUpdated, caller, next, "variables"), now)
		if err != nil {
			return err
		}
		return s.store.setVariables(ctx, old, next, v, e)
	})
	return v.output(), err
}
