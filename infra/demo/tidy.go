package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// remove deletes the webhooks and the project.
func (s *story) remove(ctx context.Context) error {
	for len(s.hooks) > 0 {
		if err := s.do(ctx, call{method: http.MethodDelete, path: "/api/webhooks/" + s.hooks[0], want: http.StatusOK}); err != nil {
			return err
		}
		s.hooks = s.hooks[1:]
	}
	if s.project != "" {
		if err := s.do(ctx, call{method: http.MethodDelete, path: "/api/projects/" + s.project, want: http.StatusOK}); err != nil {
			return err
		}
		s.project = ""
	}
	return nil
}

// tidy deletes what the story made, and looks whether it is gone.
func (s *story) tidy(ctx context.Context) error {
	project := "/api/projects/" + s.project
	if err := s.remove(ctx); err != nil {
		return err
	}
	if err := s.refuse(ctx, call{method: http.MethodGet, path: project, note: "deleted immediately", want: http.StatusNotFound}); err != nil {
		return err
	}
	for _, kind := range []string{"projects", "webhooks"} {
		var left map[string]json.RawMessage
		if err := s.do(ctx, call{method: http.MethodGet, path: "/api/" + kind, want: http.StatusOK, into: &left}); err != nil {
			return err
		}
		if string(left[kind]) != "[]" {
			return fmt.Errorf("these %s still exist: %s", kind, left[kind])
		}
		s.screen.fields(field{kind, "none"})
	}
	if err := s.do(ctx, call{method: http.MethodPost, path: "/api/auth/logout", want: http.StatusOK}); err != nil {
		return err
	}
	s.screen.remark("The account %s remains, because the API cannot delete accounts. Its random password was not saved.", s.username)
	return nil
}
