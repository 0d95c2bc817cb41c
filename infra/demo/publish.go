package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"

	"devplatform/infra/hooktest"
)

const (
	sites = "/ok/sites" // the endpoint of the receiver for the events of deployments

	// homePage is the page of the site, with a title.
	homePage    = "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Café Déjà</title>\n<h1>%s</h1>\n"
	firstTitle  = "The menu of spring"
	secondTitle = "The menu of summer"
)

// deployment is a deployment in a response.
type deployment struct {
	ID, Status, URL           string
	Number, Files, DurationMs int
	Error                     struct{ Code, Message string }
}

// publish deploys a static project, changes it, deploys it again, and rolls back. It reads the site after each step.
func (s *story) publish(ctx context.Context) error {
	s.screen.say("A second project is a static page. A deployment is an immutable build of the files of a project.")
	var project struct{ ID string }
	settings := object{"name": "Café Déjà menu", "framework": "static"}
	if err := s.post(ctx, "/api/projects", settings, &project); err != nil {
		return err
	}
	s.published = project.ID
	if err := s.savePage(ctx, firstTitle); err != nil {
		return err
	}
	if err := s.hook(ctx, s.published, sites, "deployment.completed", "project.deployed"); err != nil {
		return err
	}
	first, err := s.deploy(ctx)
	var unexpected *unexpectedError
	if errors.As(err, &unexpected) && unexpected.status == http.StatusNotImplemented {
		s.screen.remark("This platform has no domain for sites. The demo skips the rest of this chapter.")
		return nil
	}
	if err != nil {
		return err
	}
	var site struct{ URL string }
	if err := s.get(ctx, s.sitePath(), &site); err != nil {
		return err
	}
	s.site = site.URL
	if err := s.visit(ctx, http.StatusOK, firstTitle); err != nil {
		return err
	}
	return s.republish(ctx, first)
}

// republish replaces the first deployment, and rolls back to it.
func (s *story) republish(ctx context.Context, first deployment) error {
	s.screen.line("")
	s.screen.say("The page changes. Visitors see the change after the next deployment.")
	if err := s.savePage(ctx, secondTitle); err != nil {
		return err
	}
	if err := s.visit(ctx, http.StatusOK, firstTitle); err != nil {
		return err
	}
	second, err := s.deploy(ctx)
	if err != nil {
		return err
	}
	if err := s.visit(ctx, http.StatusOK, secondTitle); err != nil {
		return err
	}
	s.screen.line("")
	s.screen.say("A rollback makes an older deployment live again. Nothing is rebuilt.")
	if err := s.post(ctx, s.deploymentPath(first.ID)+"/promote", nil, nil); err != nil {
		return err
	}
	if err := s.visit(ctx, http.StatusOK, firstTitle); err != nil {
		return err
	}
	return s.deployedEvents(ctx, map[string]int{
		"deployment.completed " + first.ID: 1, "deployment.completed " + second.ID: 1,
		"project.deployed " + first.ID: 2, "project.deployed " + second.ID: 1,
	})
}

// sitePath returns the path of the site of the published project.
func (s *story) sitePath() string { return "/api/projects/" + s.published + "/site" }

// deploymentPath returns the path of a deployment of the published project.
func (s *story) deploymentPath(id string) string {
	return "/api/projects/" + s.published + "/deployments/" + id
}

// savePage saves the page of the site with a title.
func (s *story) savePage(ctx context.Context, title string) error {
	page := object{"path": "/index.html", "content": fmt.Sprintf(homePage, title)}
	return s.post(ctx, "/api/projects/"+s.published+"/files", page, nil)
}

// deploy requests a deployment of the published project, and waits until it is ready.
func (s *story) deploy(ctx context.Context) (d deployment, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := s.post(ctx, strings.TrimSuffix(s.deploymentPath(""), "/"), object{}, &d); err != nil {
		return d, err
	}
	for d.Status == "queued" || d.Status == "building" {
		time.Sleep(20 * time.Millisecond)
		read := call{method: http.MethodGet, path: s.deploymentPath(d.ID), into: &d, quiet: true}
		if _, err := s.client.do(ctx, read); err != nil {
			return d, err
		}
	}
	if d.Status != "ready" {
		return d, fmt.Errorf("deployment %s is %s: %s %s", d.ID, d.Status, d.Error.Code, d.Error.Message)
	}
	s.screen.fields("deployment", fmt.Sprint(d.Number), "status", d.Status, "built in", fmt.Sprint(d.DurationMs, " ms"),
		"files", fmt.Sprint(d.Files))
	return d, nil
}

// visit reads the site as a visitor. The page must have a status and contain a title.
func (s *story) visit(ctx context.Context, status int, title string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.site, http.NoBody)
	if err != nil {
		return fmt.Errorf("GET %s: %w", s.site, err)
	}
	begin := time.Now()
	response, err := s.visitor.Do(request)
	if err != nil {
		return fmt.Errorf("the site: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	page, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("GET %s: %w", s.site, err)
	}
	s.screen.columns("  ", dim, "GET "+s.site, "", response.StatusCode, time.Since(begin))
	if response.StatusCode != status || !strings.Contains(string(page), title) {
		return fmt.Errorf("GET %s returned status %d and %q, want %d and the title %q",
			s.site, response.StatusCode, elide(string(page), pageWidth), status, title)
	}
	s.screen.remark("The page shows “%s”.", title)
	return nil
}

// newVisitor returns a client for sites. It has no cookies. Browsers resolve names below localhost themselves, but some
// C libraries do not, so the client connects to the loopback address for them.
func newVisitor() *http.Client {
	dialer := &net.Dialer{}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if host, port, err := net.SplitHostPort(address); err == nil && strings.HasSuffix(host, ".localhost") {
				address = net.JoinHostPort("127.0.0.1", port)
			}
			return dialer.DialContext(ctx, network, address)
		},
		DisableKeepAlives: true,
	}
	return &http.Client{Transport: transport, Timeout: patience}
}

// deployedEvents waits for the events of the deployments, by type and deployment, and checks their signatures.
func (s *story) deployedEvents(ctx context.Context, want map[string]int) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s.screen.line("")
	s.screen.say("Each build and each change of the live deployment is an event:")
	if err := s.await(ctx, "the events of the deployments", func(r *hooktest.Receiver) bool {
		got, known := map[string]int{}, map[string]bool{}
		for _, request := range r.To(sites) {
			var event payload
			if err := json.Unmarshal(request.Body, &event); err == nil && !known[event.ID] {
				known[event.ID] = true
				got[event.Type+" "+event.Data.Deployment.ID]++
			}
		}
		return maps.Equal(got, want)
	}); err != nil {
		return err
	}
	return s.allSigned()
}
