package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// history shows what happened to the account.
func (s *story) history(ctx context.Context) error {
	var list struct{ Activity []struct{ Type, At string } }
	if err := s.get(ctx, "/api/auth/activity", &list); err != nil {
		return err
	}
	for _, entry := range list.Activity {
		s.screen.fields(entry.At, entry.Type)
	}
	return nil
}

// suspension is the title of the chapter about suspensions.
const suspension = "A suspension"

// suspend suspends the account as an operator, and lifts the suspension.
func (s *story) suspend(ctx context.Context) error {
	s.screen.say("Operators use a command with the credentials of AWS. Each of its acts is in the audit log.")
	if err := s.operate(ctx, "suspend"); err != nil {
		return err
	}
	me := call{method: http.MethodGet, path: "/api/auth/me", want: http.StatusForbidden}
	if err := s.refuse(ctx, me); err != nil {
		return err
	}
	if err := s.operate(ctx, "lift"); err != nil {
		return err
	}
	return s.logIn(ctx)
}

// operate runs a command of operators about the account, and shows its output.
func (s *story) operate(ctx context.Context, act string) error {
	arguments := []string{act, s.username, "--reason", "demonstration", "--yes", s.username}
	command := exec.CommandContext(ctx, s.operator, arguments...)
	region := cmp.Or(os.Getenv("AWS_REGION"), "us-east-1")
	command.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+s.aws, "AWS_REGION="+region,
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_SESSION_TOKEN=")
	output, err := command.CombinedOutput()
	shown := elide("make operator ARGS='"+strings.Join(arguments, " ")+"'", s.screen.width-2)
	s.screen.line("  " + s.screen.paint(dim, shown))
	for line := range strings.Lines(string(output)) {
		s.screen.remark("%s", line)
	}
	if err != nil {
		return fmt.Errorf("the command of operators: %w", err)
	}
	return nil
}

// export downloads everything that is stored about the user.
func (s *story) export(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var export struct{ ID, Status, URL string }
	if err := s.post(ctx, "/api/auth/export", nil, &export); err != nil {
		return err
	}
	read := call{method: http.MethodGet, path: "/api/auth/export/" + export.ID, into: &export, quiet: true}
	for export.Status != "ready" {
		if export.Status == "failed" {
			return fmt.Errorf("the export %s failed", export.ID)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the export: %w", ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
		if _, err := s.client.do(ctx, read); err != nil {
			return err
		}
	}
	body, err := fetch(ctx, export.URL)
	if err != nil {
		return err
	}
	var document map[string]any
	if err := json.Unmarshal(body, &document); err != nil {
		return fmt.Errorf("the export is not JSON: %w", err)
	}
	s.screen.remark("account.json has %d bytes: %s.", len(body), strings.Join(slices.Sorted(maps.Keys(document)), ", "))
	return nil
}

// end deletes both accounts and their workspace.
func (s *story) end(ctx context.Context) error {
	own := call{method: http.MethodDelete, path: "/api/auth/me", body: object{"confirm": s.username}}
	if s.workspace != "" {
		blocked := own
		blocked.note, blocked.want = "Grace is in a workspace of Ada", http.StatusConflict
		if err := s.refuse(ctx, blocked); err != nil {
			return err
		}
		ended := call{method: http.MethodDelete, path: "/api/workspaces/" + s.workspace,
			body: object{"confirm": workspaceName}}
		if _, err := s.client.do(ctx, ended); err != nil {
			return err
		}
		s.workspace = ""
	}
	if s.grace != nil {
		asGrace := own
		asGrace.note, asGrace.body = "as Grace", object{"confirm": s.graceName()}
		if _, err := s.grace.do(ctx, asGrace); err != nil {
			return err
		}
		s.grace = nil
	}
	if _, err := s.client.do(ctx, own); err != nil {
		return err
	}
	s.hasAccount = false
	login := call{method: http.MethodPost, path: "/api/auth/login", want: http.StatusUnauthorized,
		body: object{"email": s.email, "password": s.password}}
	return s.refuse(ctx, login)
}
