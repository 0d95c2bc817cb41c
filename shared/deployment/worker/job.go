package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/awsclient"
	"devplatform/shared/clock"
	"devplatform/shared/deployment"
	"devplatform/shared/deployment/build"
	"devplatform/shared/deployment/build/tree"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/npm"
	"devplatform/shared/project/file"
	"devplatform/shared/workspace"
)

// maxWarnings is the number of warnings of the bundler that the log contains.
const maxWarnings = 50

var (
	errTimeout = &failure.Error{
		Code:    failure.BuildTimeout,
		Message: "The build took longer than 60 seconds. Use fewer files or packages.",
	}
	errSourceTooLarge = &failure.Error{
		Code: failure.OutputTooLarge,
		Message: fmt.Sprintf("The files of the project have more than %d MiB. Delete files that the site does not need.",
			maxSource>>20),
	}
)

// job is one attempt of a worker to build a deployment.
type job struct {
	*Worker

	deployment deployment.Deployment // with the lease of the worker
	began      time.Time
	lines      []deployment.LogLine // of the log
}

// run builds the deployment and stores how it ended. Errors: deployment.ErrLost; an error for which isTransient is
// true. Any other error is a bug.
func (j *job) run(ctx context.Context) error {
	outcome, err := j.build(ctx)
	if err == nil {
		err = j.finish(ctx, outcome)
	}
	var failed *failure.Error
	if errors.As(err, &failed) {
		j.log(deployment.Error, failed.Message)
		last := &j.lines[len(j.lines)-1]
		last.Path, last.Line = failed.Path, failed.Line
		return j.finish(ctx, deployment.Outcome{Error: failed})
	}
	return err
}

// finish stores the log and the outcome of the build. Errors: those of run; *failure.Error if the account has no space
// for the output.
func (j *job) finish(ctx context.Context, outcome deployment.Outcome) error {
	if err := j.Store.WriteLog(ctx, j.deployment, j.lines...); err != nil {
		return err
	}
	d, err := j.Store.Finish(ctx, j.deployment, outcome, j.Clock())
	if err != nil {
		return err
	}
	j.Logger.InfoContext(ctx, "a deployment ended", "project", d.ProjectID, "deployment", d.ID, "status", d.Status,
		"files", d.Files, "bytes", d.Bytes, "durationMs", j.Clock().Sub(j.began).Milliseconds())
	return nil
}

// build runs all steps of a build. Errors: *failure.Error; those of run.
func (j *job) build(ctx context.Context) (deployment.Outcome, error) {
	leased, stop := j.whileLeased(ctx)
	defer stop()
	limited, cancel := context.WithTimeoutCause(leased, j.limits.build, errTimeout)
	defer cancel()
	if deadline, ok := ctx.Deadline(); ok { // the function's own time limit is an interruption
		var cancel context.CancelFunc
		limited, cancel = context.WithDeadline(limited, deadline.Add(-reserve))
		defer cancel()
	}
	outcome, err := j.steps(limited)
	cause := context.Cause(limited)
	if err != nil && (errors.Is(cause, errTimeout) || errors.Is(cause, deployment.ErrLost)) {
		return deployment.Outcome{}, cause //nolint:wrapcheck // errTimeout, or an error of the store
	}
	return outcome, err
}

// whileLeased returns a context that ends with the cause deployment.ErrLost when a check finds that the worker has lost
// its lease. A check that fails is repeated at the time of the next one. stop ends the context and the checks.
func (j *job) whileLeased(ctx context.Context) (leased context.Context, stop func()) {
	leased, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	async.Go(func() error {
		for awsclient.Sleep(leased, j.limits.lease) {
			if err := j.Store.CheckLease(leased, j.deployment); errors.Is(err, deployment.ErrLost) {
				return err
			}
		}
		return nil
	}, func(err error) {
		cancel(err) // also after a panic: without checks, another worker could take over unnoticed
		close(ended)
	})
	return leased, func() {
		cancel(nil)
		<-ended
	}
}

func (j *job) steps(ctx context.Context) (deployment.Outcome, error) {
	in, err := j.snapshot(ctx)
	if err != nil {
		return deployment.Outcome{}, err
	}
	in.Install = j.install
	built, err := build.Run(ctx, in)
	if err != nil {
		return deployment.Outcome{}, err
	}
	for _, note := range built.Notes[:min(len(built.Notes), maxWarnings)] {
		j.log(deployment.Info, note)
	}
	for _, warning := range built.Warnings[:min(len(built.Warnings), maxWarnings)] {
		j.log(deployment.Warning, warning)
	}
	out, err := j.store(ctx, j.deployment.ID, built.Files)
	if err != nil {
		return deployment.Outcome{}, err
	}
	j.log(deployment.Info, fmt.Sprintf("Built %d files, %d bytes.", out.files, out.bytes))
	return deployment.Outcome{Files: out.files, Bytes: out.bytes, Manifest: out.manifest[:]}, nil
}

// snapshot reads the project's files. Errors: deployment.ErrLost if the project was deleted; those of file.Snapshot.
func (j *job) snapshot(ctx context.Context) (build.Input, error) {
	in := build.Input{Files: map[string][]byte{}}
	var err error
	if in.Framework, err = j.Store.Framework(ctx, j.deployment); err == nil {
		err = j.read(ctx, in.Files)
	}
	if errors.Is(err, workspace.ErrProjectNotFound) {
		return in, fmt.Errorf("%w: %w", deployment.ErrLost, err)
	}
	return in, err
}

// read reads the contents of a snapshot of the project into files.
func (j *job) read(ctx context.Context, files map[string][]byte) error {
	snapshot, err := j.Files.Snapshot(ctx, j.deployment.ProjectID)
	if err != nil {
		return err
	}
	size := 0
	for _, f := range snapshot.Files {
		size += f.Size
	}
	if size > j.limits.source {
		return errSourceTooLarge
	}
	err = snapshot.Each(ctx, func(f file.File, data io.Reader) error {
		var content bytes.Buffer
		content.Grow(f.Size + bytes.MinRead)
		_, err := content.ReadFrom(data)
		files[f.Path] = content.Bytes()
		return err //nolint:wrapcheck // an error of the snapshot
	})
	if err == nil {
		j.log(deployment.Info, fmt.Sprintf("Read %d files of the project, %d bytes.", len(files), size))
	}
	return err
}

// install installs the packages on which the project depends.
func (j *job) install(ctx context.Context, files map[string][]byte, t *tree.Tree) error {
	report, err := j.Packages.Install(ctx, npm.Project{Files: files, Imports: build.Imports(files)}, t)
	for _, warning := range report.Warnings {
		j.log(deployment.Warning, warning)
	}
	if err == nil && report.Packages > 0 {
		j.log(deployment.Info, fmt.Sprintf("Installed %d packages, %d bytes. %d were downloaded.", report.Packages,
			report.Bytes, report.Downloaded))
	}
	return err
}

// log adds a line to those that finish stores.
func (j *job) log(level deployment.Level, text string) {
	j.lines = append(j.lines, deployment.LogLine{At: clock.Stamp(j.Clock()), Level: level, Text: text})
}
