package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"devplatform/infra/local/gateway"
	"devplatform/infra/local/loopback"
	"devplatform/infra/local/resources"
	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/platformtest"
	"devplatform/shared/job"
)

// parameters are the parameters of the template with which sites and a model are available.
var parameters = map[string]string{
	"AiModel": "model", "AiFoundationModel": "model",
	"MailFrom": "no-reply@example.com", "AppUrl": "https://app.example.com",
	"SitesDomain": "example.app", "SitesCertificateArn": "arn:aws:acm:us-east-1:000000000000:certificate/c",
}

// api returns an API of the template.
func (w *watched) api(logicalID string) resources.API {
	w.t.Helper()
	for _, api := range w.stack.APIs {
		if api.LogicalID == logicalID {
			return api
		}
	}
	w.t.Fatalf("the template has no API %s", logicalID)
	return resources.API{}
}

// openSites opens the port of the sites and an npm registry, and returns the functions' variables for them.
func (w *watched) openSites() map[string]string {
	w.t.Helper()
	w.sites = httptest.NewUnstartedServer(nil)
	_, port, err := net.SplitHostPort(w.sites.Listener.Addr().String())
	must(w.t, err)
	return map[string]string{
		"SITES_ORIGIN": "http://localhost:" + port, "NPM_REGISTRY": w.openRegistry(), "NPM_ALLOW_PRIVATE": "true",
		"LIMIT_DEPLOYMENTS_MINUTE": "100",
	}
}

// startSites serves the API of the sites.
func (w *watched) startSites() {
	w.t.Helper()
	w.sites.Config.Handler = gateway.New(gateway.Options{
		API: w.api("SitesApi"), Now: time.Now, Logger: slog.New(slog.DiscardHandler), Invoke: w.invoke, DomainName: loopback.Name,
	})
	w.sites.Start()
	w.t.Cleanup(w.sites.Close)
}

// openRegistry starts an npm registry with one package, and returns its URL.
func (w *watched) openRegistry() string {
	w.t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	for name, data := range map[string]string{
		"package/package.json": `{"name":"greeting","version":"1.0.0","main":"index.js"}`, "package/index.js": `module.exports = "Hello";`,
	} {
		must(w.t, archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data)), Typeflag: tar.TypeReg}))
		_, err := archive.Write([]byte(data))
		must(w.t, err)
	}
	must(w.t, archive.Close())
	must(w.t, zipped.Close())
	sum := sha512.Sum512(packed.Bytes())
	registry := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".tgz") {
			_, _ = rw.Write(packed.Bytes())
			return
		}
		_, _ = fmt.Fprintf(rw, `{"name":"greeting","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"greeting","version":"1.0.0",`+
			`"dist":{"tarball":"http://%s/greeting/-/greeting-1.0.0.tgz","integrity":"sha512-%s"}}}}`,
			r.Host, base64.StdEncoding.EncodeToString(sum[:]))
	}))
	w.t.Cleanup(registry.Close)
	return registry.URL
}

// deployments calls all operations of deployments and sites. The last project is deleted with its site.
func (w *watched) deployments(ada *platformtest.Client) {
	w.t.Helper()
	d := newDeployer(ada, ada.NewProject("Published", platformtest.Object{"framework": "react"}))
	ada.Save(d.project, "/index.html", `<!doctype html><h1>Hi</h1><script type="module" src="/src/main.js"></script>`).Want(w.t, http.StatusCreated)
	ada.Save(d.project, "/src/main.js", `import greeting from "greeting"; document.title = greeting;`).Want(w.t, http.StatusCreated)
	ada.Save(d.project, "/package.json", `{"dependencies":{"greeting":"1.0.0"}}`).Want(w.t, http.StatusCreated)
	upload := announceUpload(ada, d.project, "/public/large.mp4", strings.Repeat("video", 1<<19))
	upload.put(ada)
	ada.Do("POST", upload.path+"/complete", "").Want(w.t, http.StatusCreated)

	first := fmt.Sprint(d.deployReady(platformtest.Object{})["id"])
	script := d.script(first)
	home := d.siteURL()
	d.wantPage(home, http.StatusOK, "Hi")
	d.wantPage(home+"/large.mp4", http.StatusOK, "video") // large enough that its traffic is always counted
	for _, part := range []string{"", "/log", "/files"} {
		d.Do("GET", d.at("/", first, part), "").Want(w.t, http.StatusOK)
	}
	d.Do("GET", d.at(), "").Want(w.t, http.StatusOK)
	w.damagePackages()
	ada.Save(d.project, "/src/main.js", `import greeting from "greeting"; document.title = greeting + "!";`).Want(w.t, http.StatusOK)
	preview := fmt.Sprint(d.deployReady(platformtest.Object{"target": "preview"})["id"])
	d.Do("POST", d.at("/", preview, "/promote"), "").Want(w.t, http.StatusOK)
	d.wantPage(home+script, http.StatusOK, "Hello")
	d.Do("POST", d.at("/", first, "/promote"), "").Want(w.t, http.StatusOK)
	d.Do("DELETE", d.at("/", preview), "").Want(w.t, http.StatusOK)
	site := "/api/projects/" + d.project + "/site"
	for _, change := range []string{`{"label":"other-label"}`, `{"label":"published"}`, `{"spa":false}`} {
		d.Do("PUT", site, change).Want(w.t, http.StatusOK)
	}
	w.prune(d)
	w.sweep(d)
	d.Do("DELETE", site, "").Want(w.t, http.StatusOK)
	d.Do("DELETE", "/api/projects/"+d.project, "").Want(w.t, http.StatusOK)
}

// damagePackages damages all objects of the cache of packages.
func (w *watched) damagePackages() {
	w.t.Helper()
	client, bucket := s3test.Client(w.services), w.stack.Buckets[0].Name
	page, err := client.ListObjectsV2(w.t.Context(), &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: aws.String("packages/")})
	must(w.t, err)
	if len(page.Contents) == 0 {
		w.t.Error("the cache of packages is empty")
	}
	for _, object := range page.Contents {
		_, err := client.PutObject(w.t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: object.Key, Body: strings.NewReader("damaged")})
		must(w.t, err)
	}
}

// prune makes the service remove the deployment that is live now. The service keeps the last live deployments and the
// last deployments, so prune makes so many new ones that this deployment is not among them. The worker that builds the
// last one removes it.
func (w *watched) prune(d *deployer) {
	w.t.Helper()
	for range 5 {
		d.deployReady(platformtest.Object{})
	}
	for range 20 {
		d.Do("POST", d.at(), `{"target":"preview"}`).Want(w.t, http.StatusAccepted)
	}
	d.deployReady(platformtest.Object{})
}

// jobsLimit limits the wait for the end of all jobs. The schedule repeats an interrupted job after more than a minute.
const jobsLimit = 10 * time.Minute

// sweep runs the schedule of jobs with deployments that were removed. It then requests a deployment while the account
// has its maximum of builds in progress.
func (w *watched) sweep(d *deployer) {
	w.t.Helper()
	stamp := func(after time.Duration) string {
		return time.Now().Add(after).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	for _, attribute := range []string{"leaseEnds", "dueAt"} { // as if the lease of a canceled build had expired
		w.change("ProjectsTable", "JOB#", attribute, stamp(-time.Minute))
	}
	w.run("JobsFunction", "{}")
	platformtest.EventuallyWithin(w.t, jobsLimit, "the end of all jobs", func() bool {
		return w.find("ProjectsTable", "JOB#", func(*dynamodb.Client, *string, map[string]types.AttributeValue) {}) == 0
	})
	for _, other := range []string{"dpl_1", "dpl_2", "dpl_3"} {
		w.change("ProjectsTable", "BUILDS", other, stamp(job.LeaseTime))
	}
	d.Do("POST", d.at(), "{}").Want(w.t, http.StatusAccepted)
	platformtest.Eventually(w.t, "the message of the deployment to return to the queue", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.used["JobsFunction"]["sqs:ChangeMessageVisibility JobsQueue"]
	})
	w.deleteItems("ProjectsTable", "BUILDS")
}
