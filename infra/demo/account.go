package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// account signs up and logs in.
func (s *story) account(ctx context.Context) error {
	email := s.username + "@example.com"
	var user struct{ UserID, Message string }
	if err := s.do(ctx, call{method: http.MethodPost, path: "/api/auth/signup", body: object{"email": email, "username": s.username, "password": s.password},
		want: http.StatusCreated, into: &user}); err != nil {
		return err
	}
	s.screen.fields(field{"userId", user.UserID}, field{"message", user.Message})
	if err := s.refuse(ctx, call{method: http.MethodPost, path: "/api/auth/login", note: "with a wrong password", body: object{"email": email, "password": "not " + s.password},
		want: http.StatusUnauthorized}); err != nil {
		return err
	}
	answer, err := s.client.do(ctx, call{method: http.MethodPost, path: "/api/auth/login", body: object{"email": email, "password": s.password}, want: http.StatusOK})
	if err != nil {
		return err
	}
	for _, line := range answer.header.Values("Set-Cookie") {
		cookie, err := http.ParseSetCookie(line)
		if err != nil {
			return fmt.Errorf("the session's cookie: %w", err)
		}
		s.screen.fields(field{"cookie", cookie.Name + " (" + manners(cookie) + ")"})
	}
	var me struct{ Username, Email string }
	if err := s.do(ctx, call{method: http.MethodGet, path: "/api/auth/me", want: http.StatusOK, into: &me}); err != nil {
		return err
	}
	s.screen.fields(field{"username", me.Username}, field{"email", me.Email})
	return nil
}

// manners says what a cookie's attributes ask of a browser.
func manners(cookie *http.Cookie) string {
	all := []string{"for plain http"}
	if cookie.Secure {
		all = []string{"Secure"}
	}
	if cookie.HttpOnly {
		all = append(all, "HttpOnly")
	}
	if cookie.SameSite == http.SameSiteLaxMode {
		all = append(all, "SameSite=Lax")
	}
	return strings.Join(all, ", ")
}
