// Package worker does the jobs of deployments. To build one, it reads a snapshot of the project's files, installs the
// packages, bundles, stores the objects, and ends the deployment, which makes it live. It also removes the objects of
// deployments that were deleted, canceled or failed.
//
// Package job claims a job and calls the worker, and package deployment decides what the worker may do. A worker that
// has lost its lease can still store objects, but it cannot change a record.
package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/deployment"
	"devplatform/shared/deployment/build"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/npm"
	"devplatform/shared/deployment/sandbox"
	"devplatform/shared/deployment/tree"
	"devplatform/shared/job"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/file"
	"devplatform/shared/site"
	"devplatform/shared/workspace"
)

// Deps are the dependencies of a Worker.
type Deps struct {
	Store    deployment.Store
	Files    *file.Service
	Packages *npm.Installer
	Bucket   objectstore.Bucket
	Clock    clock.Clock
	Logger   *slog.Logger
}

// Worker builds deployments, and removes their objects. It is safe for concurrent use.
type Worker struct {
	Deps

	buildTime time.Duration // the maximum duration of a build, from the snapshot to the last object
}

// New returns a Worker. It makes no calls to storage.
func New(d Deps) *Worker { return &Worker{Deps: d, buildTime: buildTime} }

const (
	buildTime = 60 * time.Second
	// cleanUpTime limits the call that ends a build without an outcome.
	cleanUpTime = 5 * time.Second
	// maxWarnings is the maximum number of warnings of the bundler in the log, and of its notes.
	maxWarnings = 50
)

// Kinds returns the kinds of jobs that the worker does.
func (w *Worker) Kinds() []job.Kind {
	return []job.Kind{
		{Name: deployment.BuildJob, Run: w.build, Fail: w.fail},
		{Name: deployment.RemovalJob, Run: w.remove},
	}
}

var (
	errTimeout = &failure.Error{
		Code:    failure.BuildTimeout,
		Message: "The build took longer than 60 seconds. Use fewer files or packages.",
	}
	errProgram = &failure.Error{
		Code: failure.BuildFailed,
		Message: "The code of the project or of a package triggers an error in this service. Undo the last changes of the " +
			"code and of the packages, and deploy again.",
	}
	errInterrupted = &failure.Error{
		Code: failure.BuildInterrupted,
		Message: "The build was interrupted repeatedly. Deploy again. If this error returns, make the project smaller: the " +
			"build may need too much time or memory.",
	}
)

// attempt is one attempt to build a deployment.
type attempt struct {
	*Worker

	job        job.Job // with the lease of the worker
	deployment deployment.Deployment
	startedAt  time.Time
	lines      []deployment.LogLine // of the log
}

// build builds a deployment, and stores the outcome. Errors: the errors of job.Kind.Run.
func (w *Worker) build(ctx context.Context, j job.Job) error {
	d, err := w.Store.Begin(ctx, j, w.Clock())
	if err != nil {
		return err
	}
	a := &attempt{Worker: w, job: j, deployment: d, startedAt: w.Clock()}
	limited, cancel := context.WithTimeoutCause(ctx, w.buildTime, errTimeout)
	outcome, err := a.run(limited)
	cause := context.Cause(limited)
	cancel()
	if err != nil && (errors.Is(cause, errTimeout) || errors.Is(cause, job.ErrLost)) {
		err = cause
	}
	if errors.Is(err, sandbox.ErrProgram) {
		w.Logger.ErrorContext(ctx, "the program of a build failed", "project", d.ProjectID, "deployment", d.ID,
			"cause", err.Error())
		err = errProgram
	}
	if err == nil {
		err = a.finish(ctx, outcome)
	}
	if failed, ok := errors.AsType[*failure.Error](err); ok {
		a.logAt(deployment.Error, failed.Message, failed.Path, failed.Line)
		err = a.finish(ctx, deployment.Outcome{Error: failed})
	}
	if err == nil {
		return nil
	}
	endCtx, cancel := async.Detach(ctx, cleanUpTime)
	defer cancel()
	if endErr := w.Store.EndBuild(endCtx, j); endErr != nil { // the build ends when the lease expires
		w.Logger.WarnContext(endCtx, "cannot end the build", "deployment", d.ID, "cause", endErr.Error())
	}
	return err
}

// run builds the deployment, and stores its objects. Errors: job.ErrLost if the project was deleted; the errors of
// file.Snapshot, build.Run and store.
func (a *attempt) run(ctx context.Context) (deployment.Outcome, error) {
	settings, err := a.Store.BuildSettings(ctx, a.deployment)
	var snapshot *file.Snapshot
	if err == nil {
		snapshot, err = a.Files.Snapshot(ctx, a.deployment.ProjectID)
	}
	files, size := map[string][]byte{}, 0
	if err == nil {
		err = snapshot.Each(ctx, func(f file.File, data io.Reader) error {
			var content bytes.Buffer
			content.Grow(f.Size + bytes.MinRead)
			_, err := content.ReadFrom(data)
			files[f.Path] = content.Bytes()
			size += f.Size
			return err
		})
	}
	if errors.Is(err, workspace.ErrProjectNotFound) {
		err = fmt.Errorf("%w: %w", job.ErrLost, err)
	}
	if err != nil {
		return deployment.Outcome{}, err
	}
	a.log(deployment.Info, fmt.Sprintf("Read %d files of the project, %d bytes.", len(files), size))
	output, err := build.Run(ctx, build.Input{
		Files: files, Framework: settings.Framework, Variables: settings.Variables, Root: settings.RootDir,
		Install: a.install,
	})
	if err != nil {
		return deployment.Outcome{}, err
	}
	for _, note := range output.Notes[:min(len(output.Notes), maxWarnings)] {
		a.log(deployment.Info, note)
	}
	for _, warning := range output.Warnings[:min(len(output.Warnings), maxWarnings)] {
		path, line := location(warning, files)
		a.logAt(deployment.Warning, warning, path, line)
	}
	return a.store(ctx, output)
}

// location returns the file of the project with which a warning of the build begins, or "", and the line, or 0.
func location(warning string, files map[string][]byte) (path string, line int) {
	path, rest, _ := strings.Cut(warning, ":")
	if _, ok := files[path]; !ok {
		return "", 0
	}
	number, _, _ := strings.Cut(rest, ":")
	line, err := strconv.Atoi(number)
	if err != nil {
		return path, 0 // the warning is about the whole file
	}
	return path, line
}

// fail ends a deployment whose build was interrupted too often.
func (w *Worker) fail(ctx context.Context, j job.Job) error {
	a := &attempt{Worker: w, job: j, startedAt: w.Clock()}
	return a.finish(ctx, deployment.Outcome{Error: errInterrupted})
}

// finish stores the log and the outcome of the build. Errors: the errors of deployment.Store.Finish.
func (a *attempt) finish(ctx context.Context, outcome deployment.Outcome) error {
	outcome.Log = a.lines
	d, err := a.Store.Finish(ctx, a.job, outcome, a.Clock())
	if err != nil {
		return err
	}
	a.Logger.InfoContext(ctx, "a deployment ended", "project", d.ProjectID, "deployment", d.ID, "status", d.Status,
		"files", d.Files, "bytes", d.Bytes, "durationMs", a.Clock().Sub(a.startedAt).Milliseconds())
	return nil
}

// install installs the packages on which the project depends.
func (a *attempt) install(ctx context.Context, files map[string][]byte, t *tree.Tree) error {
	report, err := a.Packages.Install(ctx, npm.Project{Files: files, Imports: build.Imports(files)}, t)
	for _, warning := range report.Warnings {
		a.log(deployment.Warning, warning)
	}
	if err == nil && report.Packages > 0 {
		a.log(deployment.Info, fmt.Sprintf("Installed %d packages, %d bytes. %d were downloaded.", report.Packages,
			report.Bytes, report.Downloaded))
	}
	return err
}

// log adds a line to the log that finish stores.
func (a *attempt) log(level deployment.Level, text string) { a.logAt(level, text, "", 0) }

// logAt is like log, for a line of a file of the project.
func (a *attempt) logAt(level deployment.Level, text, path string, line int) {
	a.lines = append(a.lines, deployment.LogLine{
		At: clock.Stamp(a.Clock()), Level: level, Text: text, Path: path, Line: line,
	})
}

// remove removes the objects of a deployment.
func (w *Worker) remove(ctx context.Context, j job.Job) error {
	if _, err := w.Bucket.DeletePrefix(ctx, site.ObjectsOf(j.ID)); err != nil {
		return err
	}
	return w.Store.FinishRemoval(ctx, j)
}
