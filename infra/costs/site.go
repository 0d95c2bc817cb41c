package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"devplatform/infra/bench/rig"
	"devplatform/infra/process"
)

const (
	pageSize = 10 << 10
	// downloadPath is a file of 10 MB, for which the gateway bills one request.
	downloadPath, downloadSize = "/public/download.bin", 10_000_000
	// buildTime is the assumed CPU time of a build of small static files, times 3.5, because its function has 3.5 times
	// memoryMB. A build stores its objects in parallel.
	buildTime = 350 * time.Millisecond
	// downloadTime is the assumed time in which a visitor reads a file of 10 MB.
	downloadTime = time.Second
)

// countSites returns the rows of deployments and of the pages that they publish.
func (m *meter) countSites(ctx context.Context, p *process.Process) (rows []*row, err error) {
	c, err := rig.SignUp(ctx, p.URL)
	if err != nil {
		return nil, err
	}
	small, err := c.Create("/api/projects", rig.Object{"name": "Small", "framework": "static"})
	if err != nil {
		return nil, err
	}
	if err := c.FillStatic(small, 20, pageSize); err != nil {
		return nil, err
	}
	rows = []*row{{name: rowDeploy, extra: buildTime, do: func(int) error {
		return c.Post("/api/projects/"+small+"/deployments", rig.Object{})
	}}}
	if err := m.measure(p, c, rows[0]); err != nil {
		return nil, err
	}
	rows[0].units[gateway] = 1
	page, err := visit(ctx, c, small)
	if err != nil {
		return nil, err
	}
	large, err := m.deployDownload(ctx, p, c)
	if err != nil {
		return nil, err
	}
	download, err := visit(ctx, c, large)
	if err != nil {
		return nil, err
	}
	for _, v := range []struct {
		visitor *rig.Client
		row     *row
	}{
		{page, &row{name: rowPage, do: func(int) error { return page.Get("/") }}},
		{download, &row{name: rowDownload, extra: downloadTime, do: func(int) error {
			return download.Get(strings.TrimPrefix(downloadPath, "/public"))
		}}},
	} {
		if err := m.measure(p, v.visitor, v.row); err != nil {
			return nil, err
		}
		v.row.units[gateway] = 1
		rows = append(rows, v.row)
	}
	return rows, nil
}

// deployDownload deploys a project with the file of 10 MB.
func (m *meter) deployDownload(ctx context.Context, p *process.Process, c *rig.Client) (project string, err error) {
	if project, err = c.Create("/api/projects", rig.Object{"name": "Large", "framework": "static"}); err != nil {
		return "", err
	}
	if err := c.FillStatic(project, 1, pageSize); err != nil {
		return "", err
	}
	announced, err := announce(c, project, downloadPath, downloadSize)
	if err != nil {
		return "", err
	}
	if err := announced.send(ctx, c, project); err != nil {
		return "", err
	}
	if err := c.Post("/api/projects/"+project+"/deployments", rig.Object{}); err != nil {
		return "", err
	}
	_, err = m.settle(p)
	return project, err
}

// visit opens a connection to the site of a project.
func visit(ctx context.Context, c *rig.Client, project string) (*rig.Client, error) {
	received, err := c.Do(http.MethodGet, "/api/projects/"+project+"/site", nil)
	if err != nil {
		return nil, err
	}
	var site struct{ URL, DeploymentID string }
	if err := json.NewDecoder(bytes.NewReader(received)).Decode(&site); err != nil {
		return nil, fmt.Errorf("site: %w", err)
	}
	if site.DeploymentID == "" {
		return nil, errors.New("no deployment is live at " + site.URL)
	}
	return rig.Visit(ctx, site.URL, "identity")
}

// describeGigabyte returns the price of a gigabyte that a site serves.
func describeGigabyte(download *row) string {
	requests := math.Ceil(float64(gigabyte) / downloadSize)
	return "A gigabyte that a site serves in files of 10 MB costs " + formatDollars(requests*download.dollars()) + ": " +
		formatNumber(requests) + " requests. " + formatDollars(prices[outBytes].of(gigabyte)) + " of it are data transfer."
}
