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
	// TrafficLimit is the number of bytes that the sites of an account serve in a month.
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
	store      store
	workspaces *workspaces
	traffic    *traffic
	manifests  *cache[Manifest]
	objects    *cache[[]byte]
	maxSmall   int // see isSmall
}

// New returns a Handler. It does no I/O.
func New(d Deps) *Handler { return newHandler(d, rand.Float64) }

func newHandler(d Deps, random func() float64) *Handler {
	h := &Handler{
		Deps: d, store: store{client: d.DB, table: d.Sites},
		manifests: newManifestCache(d.Bucket), objects: newObjectCache(d.Bucket), maxSmall: maxSmall,
	}
	h.workspaces = &workspaces{projects: d.Projects, clock: d.Clock, byID: map[string]knownWorkspace{}}
	h.traffic = &traffic{
		store: h.store, clock: d.Clock, limit: d.TrafficLimit, random: random, counters: map[counterID]*counter{},
	}
	if origin, err := url.Parse(string(d.Origin)); err == nil && origin.Host != "" { // config.Origin is valid
		h.https, h.suffix = origin.Scheme == "https", "."+origin.Hostname()
	}
	return h
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
