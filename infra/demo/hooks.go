package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// The receiver's two endpoints: one that works, one that refuses its first request.
const (
	steady = "/steady"
	flaky  = "/flaky"
)

// arrived shows a delivery when it comes.
func (s *story) arrived(d delivery) {
	left := "◀ " + clean(d.payload.Type)
	subject := clean(d.payload.Data.File.Path)
	if d.path != steady {
		subject += " at " + clean(d.path)
	}
	room := s.screen.width - 2 - right - 1 - length(left) - 1
	subject = elide(subject, room)
	pad := fmt.Sprintf("%*s", room-length(subject)+1, "")
	s.screen.line("  "+s.screen.paint(cyan, left)+" "+subject+pad+s.screen.paint(class(d.status), fmt.Sprint(d.status))+
		fmt.Sprintf("%*s", right-3, milliseconds(d.took)),
		s.checked(d.id, fmt.Sprintf("attempt %d", d.attempt), d.checks))
}

// checked says which signatures of a delivery hold.
func (s *story) checked(id, what string, checks checks) string {
	return fmt.Sprintf("%s%s %s   %s   %s", indent, s.screen.paint(dim, clean(short(id))), what,
		s.tick("X-Service-Signature", checks.service), s.tick("Standard Webhooks", checks.standard))
}

// tick shows whether a signature holds.
func (s *story) tick(name string, err error) string {
	if err != nil {
		return s.screen.paint(red, "✗") + " " + name
	}
	return s.screen.paint(green, "✓") + " " + name
}

// hook makes a webhook that sends to one of the receiver's endpoints.
func (s *story) hook(ctx context.Context, endpoint, event string, refuse int) error {
	var hook struct {
		ID, Secret string
		Events     []string
	}
	err := s.do(ctx, call{method: http.MethodPost, path: "/api/webhooks", want: http.StatusCreated, into: &hook,
		body: object{"url": s.receiver.url + endpoint, "events": []string{event}, "projectId": s.project}})
	var other *unwanted
	if errors.As(err, &other) && other.status == http.StatusBadRequest {
		return fmt.Errorf("the platform sends no webhooks to this machine (%q): run it with WEBHOOK_ALLOW_PRIVATE=true, as `make run` does", other.refusal.Error)
	}
	if err != nil {
		return err
	}
	s.hooks = append(s.hooks, hook.ID)
	s.receiver.expect(endpoint, hook.Secret, refuse)
	s.screen.fields(field{"id", hook.ID}, field{"events", event}, field{"to", s.receiver.url + endpoint},
		field{"secret", secretKind(hook.Secret) + "… (shown only once)"})
	return nil
}

// secretKind is what of a secret may be shown.
func secretKind(secret string) string {
	kind, _, found := strings.Cut(secret, "_")
	if !found {
		return ""
	}
	return kind + "_"
}

// save changes the application's file.
func (s *story) save(ctx context.Context, content string) error {
	var saved file
	if err := s.do(ctx, call{method: http.MethodPost, path: s.files(), body: object{"path": appPath, "content": content},
		want: http.StatusOK, into: &saved}); err != nil {
		return err
	}
	s.screen.fields(field{"path", saved.Path}, field{"size", number(saved.Size) + " bytes"})
	return nil
}

// subscribe makes a webhook, tries it, and shows the delivery of a change.
func (s *story) subscribe(ctx context.Context) error {
	s.screen.say("This program receives webhooks at %s. It verifies both signatures of each request: X-Service-Signature with HMAC-SHA256, and "+
		"Standard Webhooks with the library of that standard. Requests are marked with ◀; at the end of the line are the response and the time since the event.", s.receiver.url)
	events, err := s.feed(ctx)
	if err != nil {
		return err
	}
	s.older = map[string]bool{}
	for _, id := range events {
		s.older[id] = true
	}
	if err := s.hook(ctx, steady, "file.*", 0); err != nil {
		return err
	}
	var attempt struct {
		StatusCode int
		DurationMs int
		Error      string
	}
	if err := s.do(ctx, call{method: http.MethodPost, path: "/api/webhooks/" + s.hooks[0] + "/test", want: http.StatusOK, into: &attempt}); err != nil {
		return err
	}
	if attempt.StatusCode == 0 {
		return fmt.Errorf("the platform cannot send webhooks to this machine: %s", attempt.Error)
	}
	s.screen.fields(field{"the receiver responded", fmt.Sprint(attempt.StatusCode)}, field{"in", fmt.Sprintf("%d ms", attempt.DurationMs)})
	if err := s.save(ctx, "export default function App() {\n  return <h1>Open all night</h1>;\n}\n"); err != nil {
		return err
	}
	if err := s.allDelivered(ctx); err != nil {
		return err
	}
	return s.tamper()
}

// tamper changes one byte of the last delivery and checks it again.
func (s *story) tamper() error {
	all := s.receiver.all()
	last := all[len(all)-1]
	body := bytes.Replace(last.body, []byte(appPath), []byte("/src/app.jsx"), 1)
	s.receiver.mu.Lock()
	secret := s.receiver.secrets[last.path]
	s.receiver.mu.Unlock()
	checks := verify(secret, body, last.header)
	if bytes.Equal(body, last.body) || checks.service == nil || checks.standard == nil {
		return errors.New("the signatures of a changed body were accepted")
	}
	s.refused++
	s.screen.remark("The same delivery with one changed letter in its body is rejected:")
	s.screen.line(s.checked(last.id, "altered  ", checks))
	return nil
}

// feed is the ids of the events of the project's files.
func (s *story) feed(ctx context.Context) ([]string, error) {
	var page struct{ Events []payload }
	if err := s.do(ctx, call{method: http.MethodGet, path: "/api/projects/" + s.project + "/events?limit=100", want: http.StatusOK, into: &page, quiet: true}); err != nil {
		return nil, err
	}
	var ids []string
	for _, event := range page.Events {
		if strings.HasPrefix(event.Type, "file.") {
			ids = append(ids, event.ID)
		}
	}
	return ids, nil
}

// allDelivered waits until each event of the project's feed that is younger than the webhook has come to the receiver that works.
func (s *story) allDelivered(ctx context.Context) error {
	events, err := s.feed(ctx)
	if err != nil {
		return err
	}
	_, err = s.receiver.wait(ctx, patience, "the deliveries of the last change", func(seen []delivery) bool {
		return !slices.ContainsFunc(events, func(id string) bool {
			return !s.older[id] && !slices.ContainsFunc(seen, func(d delivery) bool { return d.path == steady && d.payload.ID == id })
		})
	})
	return err
}
