package workspace

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"devplatform/shared/api"
)

type addInput struct {
	ID   string `path:"id" doc:"The workspace's id" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Body struct {
		Username string `json:"username" minLength:"1" doc:"Whom to add; case does not count" example:"grace"`
		Role     Role   `json:"role" enum:"owner,admin,member,viewer" doc:"What they may do; no more than the caller may" example:"member"`
	}
}

type memberInput struct {
	ID     string `path:"id" doc:"The workspace's id" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	UserID string `path:"userId" doc:"The member's user id" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// roleInput is memberInput with a role; huma passes over the fields of unexported embedded structs.
type roleInput struct {
	ID     string `path:"id" doc:"The workspace's id" example:"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	UserID string `path:"userId" doc:"The member's user id" example:"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Body   struct {
		Role *Role `json:"role,omitempty" enum:"owner,admin,member,viewer" doc:"What they may do from now on; absent: what they may do already" example:"admin"`
	}
}

type memberOutput struct{ Body memberItem }

func (s *Service) registerMembers(h huma.API) {
	api.Register(h, api.Operation{
		ID: "add-member", Method: http.MethodPost, Path: "/api/workspaces/{id}/members", Tag: tag, Session: true, Status: http.StatusCreated,
		Summary:     "Add a member",
		Description: "For admins and owners, who grant no role above their own. Emits member.added.",
		Errors: []api.Code{
			api.CodeWorkspaceNotFound, api.CodeUserNotFound, api.CodeAccessDenied, api.CodeConflict, api.CodeQuotaExceeded,
		},
	}, s.handleAdd)
	api.Register(h, api.Operation{
		ID: "update-member", Method: http.MethodPut, Path: "/api/workspaces/{id}/members/{userId}", Tag: tag, Session: true,
		Summary:     "Change a member's role",
		Description: "For admins and owners, who change and grant no role above their own. The last owner stays one.",
		Errors:      []api.Code{api.CodeWorkspaceNotFound, api.CodeMemberNotFound, api.CodeAccessDenied, api.CodeConflict},
	}, s.handleSetRole)
}

func (s *Service) handleAdd(ctx context.Context, in *addInput) (*memberOutput, error) {
	added, err := s.Add(ctx, api.CallerFrom(ctx), in.ID, in.Body.Username, in.Body.Role)
	if err != nil {
		return nil, err
	}
	return &memberOutput{added.memberItem()}, nil
}

func (s *Service) handleSetRole(ctx context.Context, in *roleInput) (*memberOutput, error) {
	changed, err := s.SetRole(ctx, api.CallerFrom(ctx), in.ID, in.UserID, in.Body.Role)
	if err != nil {
		return nil, err
	}
	return &memberOutput{changed.memberItem()}, nil
}
