package site

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/awsclient"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/objectstore"
	"devplatform/shared/site/rule"
)

// Deps contains the dependencies of a Handler.
type Deps struct {
	DB    *db.Client
	Sites db.Table
	// Projects has the records of workspaces, which are only read.
	Projects db.Table
	Bucket   objectstore.Bucket
	// Origin is the origin below which the addresses are, such as https://example.app. If it is empty, there are no
	// addresses.
	Origin config.Origin
	// TrafficLimit is the maximum number of bytes that the sites of an account serve in a month.
	TrafficLimit int64
	Clock        clock.Clock
	Logger       *slog.Logger
	// RequestID returns the ID of a request for the log.
	RequestID func(context.Context) string
}

// Handler is the http.Handler of all sites. The host of a request, http.Request.Host, selects the address. It must come
// from the gateway, and not from a header that the client may choose. The handler reads and sets no cookies.
type Handler struct {
	Deps

	https      bool
	suffix     string // of host names, such as ".example.app"
	workspaces *workspaces
	traffic    *traffic
	manifests  *cache[Manifest]
	objects    *cache[[]byte]
	maxSmall   int // see isSmall
}

// New returns a Handler. It does no I/O.
func New(d Deps) *Handler {
	h := &Handler{
		Deps: d, manifests: newManifestCache(d.Bucket), objects: newObjectCache(d.Bucket), maxSmall: maxSmall,
		workspaces: &workspaces{projects: d.Projects, clock: d.Clock, byID: map[string]knownWorkspace{}},
		traffic: &traffic{
			client: d.DB, table: d.Sites, clock: d.Clock, limit: d.TrafficLimit, random: rand.Float64,
			counters: map[db.Key]*counter{},
		},
	}
	if origin, err := url.Parse(string(d.Origin)); err == nil && origin.Host != "" { // config.Origin is valid
		h.https, h.suffix = origin.Scheme == "https", "."+origin.Hostname()
	}
	return h
}

// view is a request and its response.
type view struct {
	*Handler

	w       http.ResponseWriter
	r       *http.Request
	ctx     context.Context // it has the lifetime of the request
	label   string
	address Address
	status  int   // 0 until the response has begun
	sent    int64 // bytes of the body
	cause   error // the reason of an error response or of an incomplete one
}

// countTimeout is the time limit for counting a response. It also applies if the client has disconnected.
const countTimeout = 2 * time.Second

// ServeHTTP serves a request, logs it, and counts its bytes. If it cannot complete a response that has begun, it panics
// with http.ErrAbortHandler, so that the client sees that the body is incomplete.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := h.Clock()
	v := &view{Handler: h, w: w, r: r, ctx: awsclient.CountCalls(r.Context())}
	err := async.Recover(v.serve)
	isComplete := err == nil
	if err != nil {
		v.cause = err
	}
	if err != nil && v.status == 0 {
		status := http.StatusInternalServerError
		if errors.Is(err, db.ErrUnavailable) || errors.Is(err, objectstore.ErrUnavailable) {
			status = http.StatusServiceUnavailable
		}
		isComplete = v.page(status) == nil
	}
	ctx, cancel := async.Detach(v.ctx, countTimeout)
	defer cancel()
	if err := h.traffic.count(ctx, v.address.AccountID, v.sent); err != nil {
		h.Logger.WarnContext(ctx, "traffic was not counted", "bytes", v.sent, "cause", err)
	}
	v.log(h.Clock().Sub(began))
	if !isComplete {
		panic(http.ErrAbortHandler)
	}
}

// serve writes the response. An error means that the response is not complete, or has not begun.
func (v *view) serve() error {
	if v.r.Method != http.MethodGet && v.r.Method != http.MethodHead {
		return v.page(http.StatusMethodNotAllowed)
	}
	label, ok := v.labelOf(v.r.Host)
	if !ok {
		return v.page(http.StatusNotFound)
	}
	v.label = label
	var missing error
	// The deployment can be deleted after the address was read. Then the second reading returns the deployment that is
	// live now, or none.
	for range 2 {
		item, err := v.Sites.Get(v.ctx, db.AddressKey(label)) // a strongly consistent read
		if err == nil || errors.Is(err, db.ErrNotFound) {
			v.address, err = db.Decode[Address](item) // zero if there is no item
		}
		if err != nil {
			return err
		}
		if missing = v.show(); !errors.Is(missing, objectstore.ErrNotFound) {
			return missing
		}
	}
	v.cause = missing
	return v.page(http.StatusNotFound)
}

// show responds with the file or the redirect of the deployment to which the address points. It returns
// objectstore.ErrNotFound only if the response has not begun.
func (v *view) show() error {
	switch {
	case v.address.Blocked:
		return v.page(http.StatusUnavailableForLegalReasons)
	case v.address.DeploymentID == "" || v.address.ReservedFor != "":
		return v.page(http.StatusNotFound)
	}
	workspace, err := v.workspaces.get(v.ctx, v.address.WorkspaceID)
	switch {
	case err != nil:
		return err
	case workspace == nil:
		return v.page(http.StatusNotFound)
	case workspace.IsReadOnly():
		return v.page(http.StatusUnavailableForLegalReasons)
	}
	exceeded, err := v.traffic.isExceeded(v.ctx, v.address.AccountID)
	if err != nil { // the last known value is good enough
		v.Logger.WarnContext(v.ctx, "the traffic of an account cannot be read", "cause", err)
	}
	if exceeded {
		return v.page(http.StatusTooManyRequests)
	}
	manifest, err := v.manifests.get(v.ctx, v.address.manifestKey())
	if err != nil {
		return err
	}
	path, query := v.r.URL.Path, v.r.URL.RawQuery
	t, ok := manifest.find(path, query)
	if !ok {
		deploymentID, f, err := v.findEarlier(path)
		if err != nil {
			return err
		}
		if deploymentID != "" {
			header := v.siteHeader(manifest, deploymentID, "")
			return v.file(header, deploymentID, rule.Result{Status: http.StatusOK, File: path}, f)
		}
		t = manifest.findOther(path, query, v.address.SPA)
	}
	if t.File == "" && t.Location == "" {
		return v.page(t.Status)
	}
	header := v.siteHeader(manifest, v.address.DeploymentID, t.Location)
	if t.Location != "" {
		v.begin(t.Status)
		return nil
	}
	return v.file(header, v.address.DeploymentID, t, manifest.Files[t.File])
}

// labelOf returns the label of a host. ok reports whether the host can be an address.
func (h *Handler) labelOf(host string) (label string, ok bool) {
	const maxLabel = 63
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	label, ok = strings.CutSuffix(host, h.suffix)
	isLabel := label != "" && len(label) <= maxLabel &&
		strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
	return label, ok && isLabel && h.suffix != ""
}

// log writes one line for the request. The line does not contain the path, which may contain personal data.
func (v *view) log(took time.Duration) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("requestId", v.RequestID(v.ctx)),
		slog.String("method", v.r.Method),
		slog.Int("status", v.status),
		slog.Float64("ms", float64(took.Microseconds())/1000),
		slog.Int64("bytes", v.sent),
	}
	attrs = append(attrs, awsclient.CallAttrs(v.ctx)...)
	if v.label != "" {
		attrs = append(attrs, slog.String("label", v.label), slog.String("deploymentId", v.address.DeploymentID))
	}
	if v.cause != nil {
		attrs = append(attrs, slog.String("cause", v.cause.Error()))
		// A client that leaves is not an error of the service.
		if !errors.Is(v.cause, context.Canceled) && v.ctx.Err() == nil {
			level = slog.LevelError
		}
	}
	v.Logger.LogAttrs(v.ctx, level, "view", attrs...)
}
