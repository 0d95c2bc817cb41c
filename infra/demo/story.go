package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"devplatform/infra/hooktest"
)

// story is one run of the demo.
type story struct {
	screen   *screen
	client   *client
	receiver *hooktest.Receiver
	began    time.Time
	keep     bool // whether everything is kept

	username, email, password string
	hasAccount                bool   // whether the account exists
	project, published        string // the IDs of the projects, while they exist
	site                      string // the URL of the site of the second project, if it has one
	visitor                   *http.Client
	hooks                     []string // the IDs of the webhooks, while they exist
	older                     int      // the number of events before the first webhook
	retried                   time.Duration
	secrets                   map[string]string // of the webhooks, by the path of the endpoint
	mailbox, aws              string            // URLs of a local platform; "" for other platforms
	operator                  string            // the program of operators
	opened                    map[string]bool   // the tokens of the mails that were opened
	workspace                 string            // the ID of the workspace of two users, while it exists
	grace                     *client           // the other user, while the account exists
	shown                     int               // the number of requests to the receiver that were shown
}

func newStory(ctx context.Context, screen *screen, base string, o options) (*story, error) {
	client, err := newClient(screen, base)
	if err != nil {
		return nil, err
	}
	s := &story{
		screen: screen, client: client, began: time.Now(), receiver: hooktest.New(nil), visitor: newVisitor(),
		keep: o.keep, operator: o.operator,
		username: "ada-" + strings.ToLower(rand.Text()[:6]), password: rand.Text(), secrets: map[string]string{},
		opened: map[string]bool{},
	}
	s.mailbox, s.aws = findLocal(ctx, base)
	s.email = s.username + "@example.com"
	return s, nil
}

// chapter is a part of the story.
type chapter struct {
	title string
	run   func(context.Context) error
}

func (s *story) chapters() []chapter {
	last := chapter{"Clean-up", s.tidy}
	if s.keep {
		last = chapter{"What remains", s.leave}
	}
	confirmation, life := []chapter{{"A confirmed address", s.confirm}}, []chapter{
		{"An invitation to a workspace", s.invite},
		{"A forgotten password", s.forget},
		{"Another address, and back", s.move},
		{suspension, s.suspend},
		{"What happened to the account", s.history},
		{"Everything that is stored about the user", s.export},
	}
	if s.keep { // a suspension disables the webhooks
		life = slices.DeleteFunc(life, func(c chapter) bool { return c.title == suspension })
	}
	if s.mailbox == "" { // not a local platform
		confirmation, life = nil, nil
	}
	return slices.Concat([]chapter{{"An account", s.account}}, confirmation, []chapter{
		{"A project and its files", s.write},
		{"A webhook, and a receiver that verifies signatures", s.subscribe},
		{"The assistant fills the project", s.ask},
		{"The assistant's answer as a live stream", s.watch},
		{"A delivery that fails", s.fail},
		{"The delivery log", s.log},
		{"Publish the project", s.publish},
	}, life, []chapter{last})
}

// run runs all chapters.
func (s *story) run(ctx context.Context) error {
	for _, chapter := range s.chapters() {
		s.screen.chapter(chapter.title)
		if err := chapter.run(ctx); err != nil {
			return err
		}
	}
	s.screen.line("", s.screen.paint(head, fmt.Sprintf("Done in %.1f s", time.Since(s.began).Seconds())))
	s.screen.say("%d requests sent to the platform", s.client.requests.Load())
	s.screen.say("%d requests received from it, each with both signatures verified", s.receiver.Total())
	s.screen.say("1 changed body rejected by the same checks")
	s.screen.say("1 failed delivery retried by the platform after %.1f s", s.retried.Seconds())
	return nil
}

// account signs up and logs in.
func (s *story) account(ctx context.Context) error {
	var user struct{ UserID, Message string }
	body := object{"email": s.email, "username": s.username, "password": s.password}
	if err := s.post(ctx, "/api/auth/signup", body, &user); err != nil {
		return err
	}
	s.screen.fields("userId", user.UserID, "message", user.Message)
	login := call{method: http.MethodPost, path: "/api/auth/login", note: "with a wrong password",
		body: object{"email": s.email, "password": "not " + s.password}, want: http.StatusUnauthorized}
	if err := s.refuse(ctx, login); err != nil {
		return err
	}
	login.note, login.body["password"], login.want = "", s.password, http.StatusOK
	header, err := s.client.do(ctx, login)
	if err != nil {
		return err
	}
	s.hasAccount = true
	for _, cookie := range header.Values("Set-Cookie") {
		_, attributes, _ := strings.Cut(cookie, "; ")
		name, _, _ := strings.Cut(cookie, "=")
		s.screen.fields("cookie", name+" ("+attributes+")")
	}
	return s.get(ctx, "/api/auth/me", &struct{}{})
}

// tidy deletes the webhooks, the projects and the accounts, and checks that a project and the site are gone.
func (s *story) tidy(ctx context.Context) error {
	project := "/api/projects/" + s.project
	if err := s.removeAll(ctx); err != nil {
		return err
	}
	deleted := call{method: http.MethodGet, path: project, note: "deleted immediately", want: http.StatusNotFound}
	if err := s.refuse(ctx, deleted); err != nil {
		return err
	}
	if s.site != "" {
		if err := s.visit(ctx, http.StatusNotFound, "Page not found"); err != nil {
			return err
		}
	}
	if err := s.end(ctx); err != nil {
		return err
	}
	s.screen.remark("The e-mail address is free. The platform removes the data within 24 hours.")
	return nil
}

// leave deletes nothing, and prints how to look at it.
func (s *story) leave(context.Context) error {
	base := s.client.base
	s.screen.say("The account, both projects and all webhooks remain. The endpoints respond until the demo ends.")
	if s.site != "" {
		s.screen.line(indent + "site      " + s.site)
	}
	s.screen.line(
		indent+"URL       "+base+"/api/docs",
		indent+"e-mail    "+s.email,
		indent+"password  "+s.password,
		"",
		"  Log in, list the files, and read the delivery log:",
		fmt.Sprintf(`curl -c cookies.txt %s/api/auth/login -H 'Content-Type: application/json' `+
			`-d '{"email":"%s","password":"%s"}'`, base, s.email, s.password),
		fmt.Sprintf("curl -b cookies.txt %s%s", base, s.files()),
		fmt.Sprintf("curl -b cookies.txt %s/api/webhooks/%s/deliveries", base, s.hooks[0]))
	return nil
}

// removeAll deletes the webhooks and the projects.
func (s *story) removeAll(ctx context.Context) error {
	for len(s.hooks) > 0 {
		if err := s.remove(ctx, "/api/webhooks/"+s.hooks[0]); err != nil {
			return err
		}
		s.hooks = s.hooks[1:]
	}
	for _, project := range []*string{&s.published, &s.project} {
		if id := *project; id != "" {
			*project = ""
			if err := s.remove(ctx, "/api/projects/"+id); err != nil {
				return err
			}
		}
	}
	return nil
}

// abandon deletes what an incomplete story has created.
func (s *story) abandon(ctx context.Context) {
	if !s.hasAccount {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	s.screen.say("The demo was stopped. It deletes what it has created:")
	err := s.removeAll(ctx)
	if err == nil {
		err = s.end(ctx)
	}
	if err != nil {
		s.screen.say("Deleting failed: %v", err)
	}
}
