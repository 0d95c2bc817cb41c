package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"devplatform/infra/hooktest"
)

// The two endpoints of the receiver: one that works, and one that responds with 503 to the first request of each event.
const (
	steady = "/ok/steady"
	flaky  = "/fail/flaky"
)

const (
	deliveryHeader = "X-Service-Delivery" // the ID of a delivery, the same for every attempt
	patience       = 40 * time.Second     // the maximum time of a wait, for example for a delivery
)

// payload is the body of an event.
type payload struct {
	ID, Type  string
	Timestamp time.Time
	Data      struct {
		File       struct{ Path string }
		Reason     string // of project.deployed
		Deployment struct {
			ID, Status string
			Version    int
		}
	}
}

// showArrival shows a request to the receiver, and the results of the checks of its signatures.
func (s *story) showArrival(r hooktest.Request) {
	var event payload
	_ = json.Unmarshal(r.Body, &event) // an invalid body is shown without a path
	subject := event.Type + " " + event.Data.File.Path
	switch r.Path {
	case flaky:
		subject += " at " + r.Path
	case sites:
		d := event.Data.Deployment
		subject = fmt.Sprintf("%s %d, %s", event.Type, d.Version, cmp.Or(event.Data.Reason, d.Status))
	}
	s.screen.columns("  ◀ ", cyan, subject, "", r.Status, r.At.Sub(event.Timestamp))
	s.showChecks(r, fmt.Sprintf("attempt %d", r.Attempt))
}

// showChecks shows which signatures of a request are valid.
func (s *story) showChecks(r hooktest.Request, what string) {
	secret := s.secrets[r.Path]
	line := indent + s.screen.paint(dim, short(r.Header.Get(deliveryHeader))) + " " + what
	for _, check := range []struct {
		name string
		err  error
	}{{"X-Service-Signature", r.VerifyService(secret)}, {"Standard Webhooks", r.VerifyStandard(secret)}} {
		if check.err != nil {
			line += "   " + s.screen.paint(red, "✗") + " " + check.name
		} else {
			line += "   " + s.screen.paint(green, "✓") + " " + check.name
		}
	}
	s.screen.line(line)
}

// hook creates a webhook of a project for an endpoint of the receiver, which can have a query.
func (s *story) hook(ctx context.Context, project, endpoint string, events ...string) error {
	path, _, _ := strings.Cut(endpoint, "?")
	var hook struct{ ID, Secret string }
	body := object{"url": s.receiver.URL(endpoint), "events": events, "projectId": project}
	err := s.post(ctx, "/api/webhooks", body, &hook)
	s.secrets[path] = hook.Secret
	var unexpected *unexpectedError
	if errors.As(err, &unexpected) && unexpected.status == http.StatusBadRequest {
		return fmt.Errorf("the platform sends no webhooks to this machine (%q): run it with WEBHOOK_ALLOW_PRIVATE=true",
			unexpected.refusal.Error)
	}
	if err != nil {
		return err
	}
	s.hooks = append(s.hooks, hook.ID)
	kind, _, _ := strings.Cut(hook.Secret, "_")
	s.screen.fields("id", hook.ID, "events", strings.Join(events, ", "), "to", s.receiver.URL(path),
		"secret", kind+"_… (shown only once)")
	return nil
}

// subscribe creates a webhook, tests it, and shows the delivery of a change.
func (s *story) subscribe(ctx context.Context) error {
	s.screen.say("This program receives webhooks. It verifies both signatures of each request: X-Service-Signature " +
		"with HMAC-SHA256, and Standard Webhooks with the library of that standard. Requests are marked with ◀; " +
		"at the end of the line are the response and the time since the event.")
	var err error
	if s.older, err = s.events(ctx); err != nil {
		return err
	}
	if err := s.hook(ctx, s.project, steady, "file.*"); err != nil {
		return err
	}
	var attempt struct {
		StatusCode, DurationMs int
		Error                  string
	}
	if err := s.post(ctx, "/api/webhooks/"+s.hooks[0]+"/test", nil, &attempt); err != nil {
		return err
	}
	if attempt.StatusCode == 0 {
		return fmt.Errorf("the platform cannot send webhooks to this machine: %s", attempt.Error)
	}
	s.screen.remark("The receiver responded with %d in %d ms.", attempt.StatusCode, attempt.DurationMs)
	if err := s.save(ctx, "Open all night"); err != nil {
		return err
	}
	if err := s.allDelivered(ctx); err != nil {
		return err
	}
	all := s.receiver.To(steady)
	altered := all[len(all)-1]
	altered.Body = bytes.Replace(altered.Body, []byte(appPath), []byte(strings.ToLower(appPath)), 1)
	if altered.VerifyService(s.secrets[steady]) == nil || altered.VerifyStandard(s.secrets[steady]) == nil {
		return errors.New("the signatures of a changed body were accepted")
	}
	s.screen.remark("The same delivery with one changed letter in its body is rejected:")
	s.showChecks(altered, "altered  ")
	return nil
}

// events returns the number of events of the project's files.
func (s *story) events(ctx context.Context) (n int, err error) {
	var page struct{ Events []payload }
	path := "/api/projects/" + s.project + "/events?limit=100"
	_, err = s.client.do(ctx, call{method: http.MethodGet, path: path, into: &page, quiet: true})
	for _, event := range page.Events {
		if strings.HasPrefix(event.Type, "file.") {
			n++
		}
	}
	return n, err
}

// allDelivered waits until every event since the creation of the first webhook has arrived, and checks its signatures.
func (s *story) allDelivered(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	events, err := s.events(ctx)
	if err != nil {
		return err
	}
	if err := s.await(ctx, "the deliveries of the last change", func(r *hooktest.Receiver) bool {
		return len(r.IDs(steady)) >= events-s.older+1 // and the test
	}); err != nil {
		return err
	}
	return s.allSigned()
}

// allSigned checks the signatures of all requests to the receiver.
func (s *story) allSigned() error {
	for _, r := range s.receiver.Requests() {
		if err := r.Verify(s.secrets[r.Path]); err != nil {
			return fmt.Errorf("delivery %s is not signed as documented: %w", r.Header.Get(deliveryHeader), err)
		}
	}
	return nil
}

// await waits for a condition of the receiver, and shows the requests that have arrived.
func (s *story) await(ctx context.Context, what string, condition func(*hooktest.Receiver) bool) error {
	for {
		isMet := false
		err := s.receiver.Wait(ctx, func(r *hooktest.Receiver) bool {
			isMet = condition(r)
			return isMet || r.Total() > s.shown
		})
		for ; s.shown < s.receiver.Total(); s.shown++ {
			s.showArrival(s.receiver.Requests()[s.shown])
		}
		if err != nil {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
		if isMet {
			return nil
		}
	}
}

// fail makes a delivery fail, and waits for the platform's second attempt.
func (s *story) fail(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s.screen.say("A second endpoint responds to its first request with 503. The platform retries after 5 s ± 20 %%. " +
		"The first endpoint receives its events without delay.")
	if err := s.hook(ctx, s.project, flaky+"?status=503", "file.updated"); err != nil {
		return err
	}
	if err := s.save(ctx, "Closed on Mondays"); err != nil {
		return err
	}
	attempted := func(n int) func(*hooktest.Receiver) bool {
		return func(r *hooktest.Receiver) bool { return r.Count(flaky) == n }
	}
	if err := s.await(ctx, "the first attempt", attempted(1)); err != nil {
		return err
	}
	if err := s.allDelivered(ctx); err != nil {
		return err
	}
	log, err := s.logUntil(ctx, s.hooks[1], func(d []delivery) bool { return len(d) > 0 && d[0].NextAttemptAt != nil })
	if err != nil {
		return err
	}
	s.showLog(log)
	s.screen.remark("Waiting for the second attempt …")
	if err := s.await(ctx, "the second attempt", attempted(2)); err != nil {
		return err
	}
	if err := s.allDelivered(ctx); err != nil {
		return err
	}
	attempts := s.receiver.To(flaky)
	first, second := attempts[0], attempts[1]
	if first.Header.Get(deliveryHeader) != second.Header.Get(deliveryHeader) || !bytes.Equal(first.Body, second.Body) {
		return errors.New("the second attempt was for another delivery")
	}
	s.retried = second.At.Sub(first.At)
	s.screen.remark("The same event, delivery and body with a new signature, %.1f s later.", s.retried.Seconds())
	return nil
}

// delivery is an entry of the delivery log.
type delivery struct {
	ID, Type, Status string
	Attempts         []struct{ StatusCode, DurationMs int }
	NextAttemptAt    *time.Time
}

// logUntil reads the log of a webhook again and again until a condition is true.
func (s *story) logUntil(ctx context.Context, hook string, condition func([]delivery) bool) ([]delivery, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for quiet := false; ; quiet = true {
		var page struct{ Deliveries []delivery }
		path := "/api/webhooks/" + hook + "/deliveries"
		if _, err := s.client.do(ctx, call{method: http.MethodGet, path: path, into: &page, quiet: quiet}); err != nil {
			return nil, err
		}
		if condition(page.Deliveries) {
			return page.Deliveries, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// log shows the logs of both webhooks when no delivery is pending.
func (s *story) log(ctx context.Context) error {
	for i, hook := range s.hooks {
		s.screen.say("%s", []string{"The last deliveries to the first endpoint:", "The endpoint that failed once:"}[i])
		log, err := s.logUntil(ctx, hook, func(log []delivery) bool {
			return !slices.ContainsFunc(log, func(d delivery) bool { return d.Status == "pending" })
		})
		if err != nil {
			return err
		}
		s.showLog(log[:min(4, len(log))])
	}
	return nil
}

// showLog shows deliveries as a table with a row for each attempt.
func (s *story) showLog(log []delivery) {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, indent+"delivery\tevent\tattempt\tcode\ttime\tstatus\tnext attempt")
	for _, d := range log {
		next := "–"
		if d.NextAttemptAt != nil {
			next = fmt.Sprintf("in %.1f s", time.Until(*d.NextAttemptAt).Seconds())
		}
		for i, a := range d.Attempts {
			status := ""
			if i == len(d.Attempts)-1 {
				status = clean(d.Status) + "\t" + next
			}
			_, _ = fmt.Fprintf(table, "%s%s\t%s\t%d\t%d\t%d ms\t%s\n",
				indent, clean(short(d.ID)), clean(d.Type), i+1, a.StatusCode, a.DurationMs, status)
		}
	}
	_ = table.Flush() // a strings.Builder accepts everything
	s.screen.line(strings.TrimRight(text.String(), "\n"))
}
