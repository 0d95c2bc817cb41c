package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"
)

// story is one telling: who tells it, to whom, and what exists on the platform because of it.
type story struct {
	screen   *screen
	client   *client
	receiver *receiver
	begin    time.Time

	username, password string
	project            string          // its id, as long as it exists
	hooks              []string        // the webhooks' ids, as long as they exist
	older              map[string]bool // events from before the first webhook
	refused            int             // tampered bodies that the checks refused
	retried            time.Duration   // between the two attempts
}

func newStory(screen *screen, base string) (*story, error) {
	client, err := newClient(screen, base)
	if err != nil {
		return nil, err
	}
	s := &story{screen: screen, client: client, begin: now()}
	if s.receiver, err = newReceiver(s.arrived); err != nil {
		return nil, err
	}
	s.username = "ada-" + strings.ToLower(rand.Text()[:6])
	s.password = rand.Text()
	return s, nil
}

// chapter is a part of the story.
type chapter struct {
	title string
	tell  func(context.Context) error
}

func (s *story) chapters() []chapter {
	return []chapter{
		{"An account", s.account},
		{"A project and its files", s.write},
		{"A webhook, and a receiver that verifies signatures", s.subscribe},
		{"The assistant changes the project", s.ask},
		{"The assistant's answer as a live stream", s.watch},
		{"A delivery that fails", s.fail},
		{"The delivery log", s.log},
		{"Clean-up", s.tidy},
	}
}

// tell goes through the chapters.
func (s *story) tell(ctx context.Context) error {
	for _, chapter := range s.chapters() {
		s.screen.chapter(chapter.title)
		if err := chapter.tell(ctx); err != nil {
			return err
		}
	}
	s.summary()
	return nil
}

// do sends a request whose answer's body, beyond what is decoded, does not matter.
func (s *story) do(ctx context.Context, call call) error {
	_, err := s.client.do(ctx, call)
	return err
}

// refuse sends a request that the platform must refuse, and shows how it says so.
func (s *story) refuse(ctx context.Context, call call) error {
	var said refusal
	call.into = &said
	if err := s.do(ctx, call); err != nil {
		return err
	}
	s.screen.refusal(said)
	return nil
}

// summary counts what was seen.
func (s *story) summary() {
	all := s.receiver.all()
	deliveries := map[string]bool{}
	for _, d := range all {
		deliveries[d.id] = true
	}
	s.screen.line("")
	s.screen.line(s.screen.paint(head, "Done in "+seconds(now().Sub(s.begin))))
	for _, row := range []struct {
		count int64
		what  string
	}{
		{s.client.requests.Load(), "requests sent to the platform"},
		{int64(len(deliveries)), fmt.Sprintf("deliveries received in %d requests, each with both signatures verified", len(all))},
		{int64(s.refused), "changed body rejected by the same checks"},
		{int64(len(all) - len(deliveries)), "failed delivery retried by the platform after " + seconds(s.retried)},
	} {
		s.screen.line("  " + s.screen.paint(green, fmt.Sprintf("%3d", row.count)) + " " + row.what)
	}
}

// abandon deletes what a story that broke off has made. One that was told to its end has left nothing to delete.
func (s *story) abandon(ctx context.Context) {
	if len(s.hooks) == 0 && s.project == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	s.screen.end()
	s.screen.line("")
	s.screen.say("The demo was stopped. It deletes what it has created:")
	if err := s.remove(ctx); err != nil {
		s.screen.say("Deleting failed: %v", err)
	}
}
