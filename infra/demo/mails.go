package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// mail is a mail in the mailbox of the local platform.
type mail struct {
	Subject, Code string
	Links         []string
}

// link returns the first link of a mail, without its token, which is in the fragment, and the token.
func (m mail) link() (page, token string) {
	page, token, _ = strings.Cut(strings.Join(m.Links[:min(len(m.Links), 1)], ""), "#token=")
	return page, token
}

// The addresses of the mailbox and of the AWS services in the page of a local platform.
var (
	mailboxAddress = regexp.MustCompile(`<th>console<td><a href="([^"]+)"`)
	awsAddress     = regexp.MustCompile(`<th>AWS<td>(\S+)`)
)

// findLocal returns the URLs of the mailbox and of the AWS services of a local platform. Both are "" for other
// platforms.
func findLocal(ctx context.Context, base string) (mailbox, aws string) {
	page, err := fetch(ctx, base+"/")
	console, services := mailboxAddress.FindSubmatch(page), awsAddress.FindSubmatch(page)
	if err != nil || console == nil || services == nil {
		return "", ""
	}
	return string(console[1]), string(services[1])
}

// fetch returns the body of a response. It is not shown.
func fetch(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	return body, nil
}

// mail waits for a mail to an address with a link to a page of the service, shows it, and returns its token and its
// code. It skips the mails that it has returned before.
func (s *story) mail(ctx context.Context, to, page string) (token, code string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		body, err := fetch(ctx, s.mailbox+"/mail?to="+url.QueryEscape(to))
		var list struct{ Mails []mail }
		if err == nil {
			err = json.Unmarshal(body, &list)
		}
		if err != nil {
			return "", "", fmt.Errorf("waiting for a mail to %s: %w", to, err)
		}
		for _, m := range list.Mails {
			link, token := m.link()
			if !strings.HasSuffix(link, "/page/"+page) || s.opened[token] {
				continue
			}
			s.opened[token] = true
			s.screen.line("  " + s.screen.paint(cyan, "✉ "+elide(clean(m.Subject), s.screen.width-4)))
			shown := []string{"to", to, "link", strings.TrimPrefix(link, s.client.base)}
			if m.Code != "" {
				shown = append(shown, "code", m.Code)
			}
			s.screen.fields(shown...)
			return token, m.Code, nil
		}
		select {
		case <-ctx.Done():
			return "", "", fmt.Errorf("waiting for a mail to %s: %w", to, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// confirm confirms the address of the account with the link of the mail that the sign-up caused.
func (s *story) confirm(ctx context.Context) error {
	s.screen.say("The transaction of the sign-up has stored a mail. A local platform keeps mails at %s.", s.mailbox)
	token, _, err := s.mail(ctx, s.email, "confirm")
	if err != nil {
		return err
	}
	if err := s.post(ctx, "/api/auth/email/confirm", object{"token": token}, nil); err != nil {
		return err
	}
	return s.showMe(ctx)
}

// showMe shows the state of the account.
func (s *story) showMe(ctx context.Context) error {
	var me struct {
		Email         string
		EmailVerified bool
	}
	if err := s.get(ctx, "/api/auth/me", &me); err != nil {
		return err
	}
	s.screen.fields("email", me.Email, "emailVerified", fmt.Sprint(me.EmailVerified))
	return nil
}

// workspaceName is the name of the workspace of two users.
const workspaceName = "Café Déjà"

// invite invites another user to a workspace, who accepts with the link of the mail.
func (s *story) invite(ctx context.Context) error {
	s.screen.say("Grace becomes a member of the workspace only if she accepts. She gets a mail, and accepts.")
	var created struct{ ID string }
	if err := s.post(ctx, "/api/workspaces", object{"name": workspaceName}, &created); err != nil {
		return err
	}
	s.workspace = created.ID
	at := "/api/workspaces/" + created.ID
	grace, err := newClient(s.screen, s.client.base)
	if err != nil {
		return err
	}
	name := s.graceName()
	user := object{"email": name + "@example.com", "username": name, "password": s.password}
	to := name + "@example.com"
	if err := s.post(ctx, at+"/invitations", object{"email": to, "role": "member"}, nil); err != nil {
		return err
	}
	token, _, err := s.mail(ctx, to, "invitation")
	if err != nil {
		return err
	}
	for _, call := range []call{
		{path: "/api/auth/signup", body: user},
		{path: "/api/auth/login", body: object{"email": to, "password": s.password}},
		{path: "/api/invitations/accept", body: object{"token": token}, note: "as Grace"},
	} {
		call.method = http.MethodPost
		if _, err := grace.do(ctx, call); err != nil {
			return err
		}
		s.grace = grace
	}
	var list struct {
		Members []struct{ Username, Role string }
	}
	if err := s.get(ctx, at+"/members", &list); err != nil {
		return err
	}
	for _, member := range list.Members {
		s.screen.fields("member", member.Username, "role", member.Role)
	}
	return nil
}

// graceName returns the username of the second account.
func (s *story) graceName() string { return strings.Replace(s.username, "ada", "grace", 1) }

// forget resets a forgotten password with the code of a mail. All sessions end.
func (s *story) forget(ctx context.Context) error {
	if err := s.post(ctx, "/api/auth/password/forgot", object{"email": s.email}, nil); err != nil {
		return err
	}
	_, code, err := s.mail(ctx, s.email, "reset")
	if err != nil {
		return err
	}
	s.password = rand.Text()
	reset := object{"email": s.email, "code": code, "password": s.password}
	if err := s.post(ctx, "/api/auth/password/reset", reset, nil); err != nil {
		return err
	}
	ended := call{method: http.MethodGet, path: "/api/auth/me", want: http.StatusUnauthorized}
	if err := s.refuse(ctx, ended); err != nil {
		return err
	}
	return s.logIn(ctx)
}

func (s *story) logIn(ctx context.Context) error {
	return s.post(ctx, "/api/auth/login", object{"email": s.email, "password": s.password}, nil)
}

// move changes the address of the account.
func (s *story) move(ctx context.Context) error {
	address := s.username + "@new.example.com"
	change := call{method: http.MethodPut, path: "/api/auth/email", body: object{"email": address}}
	if _, err := s.client.do(ctx, change); err != nil {
		return err
	}
	_, code, err := s.mail(ctx, address, "change")
	if err != nil {
		return err
	}
	if err := s.post(ctx, "/api/auth/email/change", object{"code": code}, nil); err != nil {
		return err
	}
	if err := s.showMe(ctx); err != nil {
		return err
	}
	return s.undo(ctx)
}

// undo restores the old address with a mail that was sent to it, and sets a new password with the next mail.
func (s *story) undo(ctx context.Context) error {
	s.screen.line("")
	s.screen.say("The old address can undo the change for seven days. That ends all sessions and removes the password.")
	token, _, err := s.mail(ctx, s.email, "undo")
	if err != nil {
		return err
	}
	if err := s.post(ctx, "/api/auth/email/undo", object{"token": token}, nil); err != nil {
		return err
	}
	if token, _, err = s.mail(ctx, s.email, "reset"); err != nil {
		return err
	}
	s.password = rand.Text()
	reset := object{"token": token, "password": s.password}
	if err := s.post(ctx, "/api/auth/password/reset", reset, nil); err != nil {
		return err
	}
	if err := s.logIn(ctx); err != nil {
		return err
	}
	return s.showMe(ctx)
}
