package worker

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"devplatform/shared/deployment"
	"devplatform/shared/deployment/build"
	"devplatform/shared/lambdafn"
	"devplatform/shared/objectstore"
	"devplatform/shared/site"
	"devplatform/shared/site/rule"
)

const (
	// parallelUploads is the number of objects that are stored at the same time.
	parallelUploads = 32
	// minGzip is the size in bytes below which compression saves less than its header costs.
	minGzip = 512
)

// store stores the files of a build and their manifest, which has the rules of the site. The keys contain the hashes of
// the contents, so another attempt to build the same deployment cannot change an object. Errors:
// objectstore.ErrUnavailable; the cause of the end of ctx.
func (a *attempt) store(ctx context.Context, output build.Output) (deployment.Outcome, error) {
	deploymentID := a.deployment.ID
	manifest := site.Manifest{Files: make(map[string]site.File, len(output.Files))}
	outcome := deployment.Outcome{Files: len(output.Files)}
	objects := map[string][]byte{} // by key
	for _, f := range output.Files {
		hash := site.Hash(sha256.Sum256(f.Data))
		entry := site.File{Size: len(f.Data), SHA256: hash, ContentType: f.ContentType, Hashed: f.Hashed}
		data := f.Data
		if compressed, ok := compress(f); ok {
			entry.Gzip, data = true, compressed
		}
		manifest.Files[f.Path] = entry
		objects[site.ObjectKey(deploymentID, hash, entry.Gzip)] = data
		outcome.Bytes += len(f.Data)
	}
	a.addRules(&manifest, output)
	text, err := json.Marshal(manifest, json.Deterministic(true))
	if err != nil {
		return deployment.Outcome{}, fmt.Errorf("worker: encode the manifest: %w", err)
	}
	hash := site.Hash(sha256.Sum256(text))
	outcome.Manifest, outcome.HashedPaths = hash[:], site.HashedPathsOf(manifest)
	objects[site.ObjectKey(deploymentID, hash, false)] = text
	keys := slices.Collect(maps.Keys(objects))
	for _, err := range lambdafn.Parallel(len(keys), parallelUploads, func(i int) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := a.Bucket.Create(ctx, keys[i], objects[keys[i]])
		if errors.Is(err, objectstore.ErrExists) { // stored by an earlier attempt, perhaps with another compression
			return nil
		}
		return err
	}) {
		if err != nil {
			return deployment.Outcome{}, err
		}
	}
	a.log(deployment.Info, fmt.Sprintf("Built %d files, %d bytes.", outcome.Files, outcome.Bytes))
	return outcome, nil
}

// compress returns the content of a file compressed with gzip. It reports false if that is not worthwhile.
func compress(f build.File) ([]byte, bool) {
	if len(f.Data) < minGzip || !isText(f.ContentType) {
		return nil, false
	}
	var buffer bytes.Buffer
	w := gzip.NewWriter(&buffer)
	_, _ = w.Write(f.Data) // a buffer never fails
	_ = w.Close()
	return buffer.Bytes(), buffer.Len() < len(f.Data)
}

// isText reports whether files of a content type are usually text, which compresses well.
func isText(contentType string) bool {
	mediaType, _, _ := strings.Cut(contentType, ";")
	switch mediaType {
	case "application/json", "application/xml", "application/yaml", "application/toml", "application/x-ndjson",
		"application/wasm", "image/bmp", "image/vnd.microsoft.icon", "font/ttf", "font/otf":
		return true
	}
	return strings.HasPrefix(mediaType, "text/") || strings.HasSuffix(mediaType, "+json") ||
		strings.HasSuffix(mediaType, "+xml")
}

// addRules adds the rules of the project's files _redirects and _headers to a manifest with all files. It logs the
// lines that have no effect.
func (a *attempt) addRules(m *site.Manifest, output build.Output) {
	var warnings []rule.Warning
	hasFile := func(path string) bool { return m.File(path) != "" }
	m.Redirects, warnings = rule.ParseRedirects(output.Redirects.Data, hasFile)
	a.logRules(output.Redirects, len(m.Redirects), warnings)
	m.Headers, warnings = rule.ParseHeaders(output.Headers.Data)
	a.logRules(output.Headers, len(m.Headers), warnings)
	for _, path := range slices.Sorted(maps.Keys(m.Files)) {
		if _, fits := rule.HeadersOf(m.Headers, path, 0); !fits {
			a.logAt(deployment.Warning, fmt.Sprintf("%s: The headers of %s and perhaps of other paths have more than 8 KiB. "+
				"The last ones are left out.", output.Headers.Path, path), output.Headers.Path, 0)
			return
		}
	}
}

// logRules logs the warnings about a file with rules, and the number of its rules.
func (a *attempt) logRules(file build.Rules, rules int, warnings []rule.Warning) {
	if file.Path == "" {
		return
	}
	for _, w := range warnings {
		a.logAt(deployment.Warning, fmt.Sprintf("%s:%d: %s", file.Path, w.Line, w.Text), file.Path, w.Line)
	}
	a.log(deployment.Info, fmt.Sprintf("Read %d rules of %s.", rules, file.Path))
}
