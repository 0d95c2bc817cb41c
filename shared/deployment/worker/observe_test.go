package worker_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"

	"devplatform/infra/projecttest"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/job"
	"devplatform/shared/site"
)

// addresses returns the addresses of a project that show a deployment, by partition key.
func (p *published) addresses() map[string]site.Address {
	p.f.T.Helper()
	all := map[string]site.Address{}
	for key, item := range p.f.Dump(p.f.sites) {
		a, err := db.Decode[site.Address](item)
		if err != nil {
			p.f.T.Fatal(err)
		}
		if a.ProjectID == p.id && a.DeploymentID != "" {
			all[key.PK] = a
		}
	}
	return all
}

// live returns the files that the production address shows, nil if it is offline.
func (p *published) live() map[string]string {
	p.f.T.Helper()
	for _, a := range p.addresses() {
		if a.Production {
			return p.f.output(a)
		}
	}
	return nil
}

// output returns the files that an address shows, by path. It checks their objects.
func (f *fixture) output(a site.Address) map[string]string {
	f.T.Helper()
	files := map[string]string{}
	for path, entry := range f.manifest(a).Files {
		data, err := f.bucket.Get(f.T.Context(), site.ObjectKey(a.DeploymentID, entry.SHA256, entry.Gzip))
		if err == nil && entry.Gzip {
			data, err = unzip(data)
		}
		if err != nil || len(data) != entry.Size || sha256.Sum256(data) != [32]byte(entry.SHA256) {
			f.T.Errorf("%s: got %d bytes, error %v, want the %d bytes of the manifest", path, len(data), err, entry.Size)
		}
		files[path] = string(data)
	}
	return files
}

func (f *fixture) manifest(a site.Address) (m site.Manifest) {
	f.T.Helper()
	text, err := f.bucket.Get(f.T.Context(), site.ManifestKey(a.DeploymentID, a.Manifest))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if sum := sha256.Sum256(text); err != nil || !bytes.Equal(sum[:], a.Manifest) {
		f.T.Errorf("manifest of %s: got %d bytes, error %v, want the manifest with the hash", a.DeploymentID, len(text), err)
	}
	return m
}

func unzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// objects returns the keys of the objects of a deployment, or of all deployments if deploymentID is "".
func (f *fixture) objects(deploymentID string) (keys []string) {
	f.T.Helper()
	found, _, err := f.bucket.List(f.T.Context(), "sites/"+deploymentID, "")
	if err != nil {
		f.T.Fatal(err)
	}
	for _, o := range found {
		keys = append(keys, o.Key)
	}
	return keys
}

// record returns the record of a deployment, zero if there is none.
func (p *published) record(deploymentID string) deployment.Deployment {
	p.f.T.Helper()
	return storedIn[deployment.Deployment](p.f, db.DeploymentKey(p.id, deploymentID))
}

// job returns the job of a deployment, zero if there is none.
func (p *published) job(deploymentID string) job.Job {
	p.f.T.Helper()
	return storedIn[job.Job](p.f, db.JobKey(p.id, deploymentID))
}

// storedIn returns a record of the table of projects, zero if there is none.
func storedIn[T any](f *fixture, key db.Key) T {
	f.T.Helper()
	items, err := f.Projects.BatchGet(f.T.Context(), key)
	if err != nil {
		f.T.Fatal(err)
	}
	record, err := db.Decode[T](items[key])
	if err != nil {
		f.T.Fatal(err)
	}
	return record
}

// events returns the events of a deployment in the order in which they were stored, as "type status reason".
func (f *fixture) events(deploymentID string) (all []string) {
	f.T.Helper()
	for _, r := range f.StoredEvents() {
		p := projecttest.DecodePayload(f.T, r)
		if d := p.Data.Deployment; d != nil && d.ID == deploymentID {
			all = append(all, strings.TrimSpace(fmt.Sprint(r.Type, " ", d.Status, " ", p.Data.Reason)))
		}
	}
	return all
}
