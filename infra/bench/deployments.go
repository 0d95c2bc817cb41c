package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"devplatform/infra/bench/rig"
	"devplatform/infra/process"
)

const (
	deployRuns = 7
	// pageSize is the size of the page that visitors read.
	pageSize = 10 << 10
	// pageRounds is the number of turns in which pages and GET /api/auth/me are measured alternately.
	pageRounds = 3
)

// deployments measures the time from the request for a deployment until it is live, and the memory of the function.
func (b *bench) deployments(ctx context.Context) error {
	p, err := b.platform(ctx, "deployments", "NPM_ALLOW_PRIVATE=true")
	if err != nil {
		return err
	}
	defer p.Stop()
	account, err := rig.SignUp(ctx, p.URL)
	if err != nil {
		return err
	}
	section(fmt.Sprintf("POST TO LIVE, with all packages in the cache (median of %d), and the first one, which downloads "+
		"packages", deployRuns), "p50", "goal", "max", "first", "memory peak so far")
	for _, kind := range []struct {
		name, framework, goal string
		fill                  func(project string) error
	}{
		{"static, 20 files", "static", "350 ms", func(project string) error {
			return account.FillStatic(project, 20, pageSize)
		}},
		{"small React app", "react", "350 ms", func(project string) error {
			return fillFolder(account, project, "shared/deployment/build/testdata/react")
		}},
		{fmt.Sprintf("React, %d packages", len(packages)), "react", "2 s", func(project string) error {
			return fillPackages(account, project)
		}},
		{"static, 1,000 files", "static", "6 s", func(project string) error {
			return account.FillStatic(project, 1000, pageSize)
		}},
		{"shadcn/ui, 86 files, Tailwind CSS 3", "react", "5 s", func(project string) error {
			return fillFolder(account, project, "infra/corpus/dashboard")
		}},
		{"dashboard with charts, Tailwind CSS 4", "react", "3 s", func(project string) error {
			return fillFolder(account, project, "shared/assistant/scaffold/starters/charts")
		}},
	} {
		project, err := account.Create("/api/projects", rig.Object{"name": kind.name, "framework": kind.framework})
		if err == nil {
			err = kind.fill(project)
		}
		if err != nil {
			return err
		}
		if err := measureDeployments(account, p, project, kind.name, kind.goal); err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
	}
	return nil
}

// fillFolder saves the files of a folder in the project.
func fillFolder(account *rig.Client, project, folder string) error {
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return account.Post("/api/projects/"+project+"/files", rig.Object{
			"path": strings.TrimPrefix(path, folder), "content": string(content),
		})
	})
	if err != nil {
		return fmt.Errorf("save the files of %s: %w", folder, err)
	}
	return nil
}

// measureDeployments deploys a project several times, after a first time that may download packages.
func measureDeployments(account *rig.Client, p *process.Process, project, name, goal string) error {
	times, first := newTimes(), time.Duration(0)
	for n := range deployRuns + 1 {
		pauseBriefly()
		begin := time.Now()
		if err := deploy(account, project); err != nil {
			return err
		}
		if n == 0 {
			first = time.Since(begin)
			continue
		}
		record(times, time.Since(begin))
	}
	row(name, at(times, 50), goal, at(times, 100), first, mb(p.Peak("jobs")))
	return nil
}

// deploy deploys a project and waits until the deployment is live.
func deploy(account *rig.Client, project string) error {
	path := "/api/projects/" + project + "/deployments"
	id, err := account.Create(path, rig.Object{})
	if err != nil {
		return err
	}
	for {
		received, err := account.Do(http.MethodGet, path+"/"+id, nil)
		if err != nil {
			return err
		}
		var deployment struct{ Status string }
		if err := json.Unmarshal(received, &deployment); err != nil {
			return fmt.Errorf("deployment: %w", err)
		}
		switch deployment.Status {
		case "ready":
			return nil
		case "failed", "canceled":
			return errors.New("the deployment ended: " + string(received))
		}
		time.Sleep(10*time.Millisecond + rand.N(20*time.Millisecond))
	}
}

// pages compares the page of a site with GET /api/auth/me.
func (b *bench) pages(ctx context.Context) error {
	p, err := b.platform(ctx, "pages")
	if err != nil {
		return err
	}
	defer p.Stop()
	account, err := rig.SignUp(ctx, p.URL)
	if err != nil {
		return err
	}
	site, err := publish(account)
	if err != nil {
		return err
	}
	connected, err := dial(ctx, account, clients)
	if err != nil {
		return err
	}
	title := fmt.Sprintf("A PAGE OF %d KiB, %d connections, compared with GET /api/auth/me (goal for me / page: 1.3x)",
		pageSize>>10, clients)
	section(title, "requests/s", "p50", "p99", "me: req/s", "me / page", "CPU: page / me")
	for _, encoding := range []string{"gzip", "identity"} {
		visitors, err := parallel(clients, func(int) (*rig.Client, error) { return rig.Visit(ctx, site, encoding) })
		if err != nil {
			return err
		}
		page, me := turns{times: newTimes()}, turns{times: newTimes()}
		for range pageRounds {
			if err := me.drive(p, func(client int) error { return connected[client].Get("/api/auth/me") }); err != nil {
				return err
			}
			if err := page.drive(p, func(client int) error { return visitors[client].Get("/") }); err != nil {
				return err
			}
		}
		pageLoad, meLoad := page.load(), me.load()
		values := append(pageLoad.values(), meLoad.perSecond, ratio(meLoad.perSecond, pageLoad.perSecond),
			ratio(page.cpuEach(), me.cpuEach()))
		row("Accept-Encoding: "+encoding, values...)
	}
	return nil
}

// publish deploys a project with a page of pageSize, and returns the URL of its site.
func publish(account *rig.Client) (string, error) {
	project, err := account.Create("/api/projects", rig.Object{"name": "pages", "framework": "static"})
	if err == nil {
		err = account.FillStatic(project, 1, pageSize)
	}
	if err == nil {
		err = deploy(account, project)
	}
	if err != nil {
		return "", err
	}
	received, err := account.Do(http.MethodGet, "/api/projects/"+project+"/site", nil)
	if err != nil {
		return "", err
	}
	var view struct{ URL string }
	if err := json.Unmarshal(received, &view); err != nil {
		return "", fmt.Errorf("site: %w", err)
	}
	return view.URL, nil
}

// turns is the sum of several loads.
type turns struct {
	times *hdr.Histogram
	n     int
	cpu   time.Duration // of the platform's processes
}

// drive adds a turn with all clients.
func (t *turns) drive(p *process.Process, do func(client int) error) error {
	before := process.CPU(p.PID())
	result, err := drive(clients, loadTime, do)
	if err != nil {
		return err
	}
	t.times.Merge(result.Histogram)
	t.cpu += process.CPU(p.PID()) - before
	t.n++
	return nil
}

func (t *turns) load() load {
	return load{float64(t.times.TotalCount()) / (float64(t.n) * loadTime.Seconds()), t.times}
}

// cpuEach returns the CPU time of the platform for each request.
func (t *turns) cpuEach() time.Duration { return t.cpu / time.Duration(t.times.TotalCount()) }
