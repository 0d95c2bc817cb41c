package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"devplatform/shared/awsclient"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/metric"
	"devplatform/shared/queue"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/webhook/signature"
)

// WorkerDeps are what the worker is built on.
type WorkerDeps struct {
	DB         *db.Client
	Webhooks   db.Table
	Deliveries queue.Queue // whose messages it works on
	Failures   queue.Queue // of messages that can't be read
	Keys       *config.Keys
	Sender     *sender.Sender
	Clock      clock.Clock
	Logger     *slog.Logger
	Metrics    *metric.Metrics
	// Jitter is random, from -1 to 1; nil: uniformly so.
	Jitter func() float64
}

// Worker attempts deliveries.
//
// An attempt is three calls to the table: what the messages of a batch are about is read at once; the claim notes the attempt as one
// that was interrupted and leases the delivery; the record says how it ended. Whoever dies between them leaves a delivery that
// counts the attempt and is found by its place in the index. The queue's message is a signal alone: losing it costs time,
// having it twice costs a read.
type Worker struct {
	store      store
	deliveries queue.Queue
	failures   queue.Queue
	secrets    func(context.Context, Webhook, time.Time) ([]string, error)
	send       func(context.Context, sender.Request) sender.Result
	now        clock.Clock
	logger     *slog.Logger
	metrics    *metric.Metrics
	jitter     func() float64
}

// NewWorker builds the worker. It does no input or output.
func NewWorker(d WorkerDeps) *Worker {
	w := &Worker{
		store: store{client: d.DB, webhooks: d.Webhooks}, deliveries: d.Deliveries, failures: d.Failures,
		secrets: sealer{d.Keys}.liveSecrets, send: d.Sender.Send, now: d.Clock, logger: d.Logger, metrics: d.Metrics, jitter: d.Jitter,
	}
	if w.jitter == nil {
		w.jitter = uniform
	}
	return w
}

// uniform is a random number from -1 to 1.
func uniform() float64 { return 2*rand.Float64() - 1 } //nolint:gosec // spreads attempts, guards nothing

// attemptTime is what is left of the function's time when an attempt is begun, at least: its own 15 s, and the record.
const attemptTime = 17 * time.Second

// job is a message and what it is about.
type job struct {
	message lambdafn.QueueMessage
	target  target
	batch   *batch
}

// batch is what the messages of one invocation share.
type batch struct {
	begin  context.Context // over when there is too little time for an attempt
	probes sync.Map        // the endpoints that one of them tries
	tally  tally
}

// Handle works on the messages of one invocation, all at once, and answers with what became of each. Errors: lambdafn.ErrLater, of a
// message that comes again when the next attempt is due; storage's and the secrets', where another try may help.
func (w *Worker) Handle(ctx context.Context, messages []lambdafn.QueueMessage) []error {
	errs := make([]error, len(messages))
	var parsed []message
	var places []int
	for i, m := range messages {
		about, err := parseMessage(m.Body)
		if err != nil {
			errs[i] = w.poison(ctx, m, err)
			continue
		}
		parsed, places = append(parsed, about), append(places, i)
	}
	targets, err := w.store.targets(ctx, parsed)
	if err != nil {
		for _, i := range places {
			errs[i] = err
		}
		return errs
	}
	begin, cancel := endingBefore(ctx, attemptTime)
	defer cancel()
	together := &batch{begin: begin}
	for i, err := range lambdafn.Parallel(len(parsed), max(len(parsed), 1), func(i int) error {
		return w.work(ctx, job{messages[places[i]], targets[i], together})
	}) {
		errs[places[i]] = err
	}
	w.metrics.Put(ctx, together.tally.all()...)
	return errs
}

// endingBefore is a context that ends so long before the other.
func endingBefore(ctx context.Context, reserve time.Duration) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-reserve))
}

// poison hands a message to the queue of failures. Then it is done with.
func (w *Worker) poison(ctx context.Context, m lambdafn.QueueMessage, reason error) error {
	w.logger.ErrorContext(ctx, "a message can't be worked on", "messageId", m.ID, "cause", reason.Error())
	return w.failures.PoisonMessage(ctx, m.ID, m.Body, reason)
}

// work does what a message leads to. If another has moved the delivery since it was read, which is no sign that somebody has it in hand,
// it is read and decided on anew, and if that happens again, the message comes again.
func (w *Worker) work(ctx context.Context, j job) error {
	err := w.turn(ctx, j)
	if !inVain(err) {
		return err
	}
	targets, err := w.store.targets(ctx, []message{j.target.delivery.message()})
	if err != nil {
		return err
	}
	j.target = targets[0]
	if err = w.turn(ctx, j); inVain(err) {
		return w.later(ctx, j, time.Second)
	}
	return err
}

// inVain reports whether a turn came to nothing because another has moved the delivery. An attempt that was made is not nothing.
func inVain(err error) bool { return errors.Is(err, errMoved) && !errors.Is(err, errUnrecorded) }

// turn is one, of a delivery as it was read. Error: errMoved, if it is not like that any more, and nothing was done.
func (w *Worker) turn(ctx context.Context, j job) error {
	if j.target.err != nil {
		return w.poison(ctx, j.message, j.target.err)
	}
	if j.target.delivery == nil {
		return nil // it has expired
	}
	d, now := *j.target.delivery, w.now()
	switch p := planTurn(d, j.target.webhook, now); p.turn {
	case turnSkip:
		return nil
	case turnWait:
		return w.wait(ctx, j, d, p.until, now)
	case turnPark:
		return w.park(ctx, j, d, now)
	case turnFail:
		err := w.move(ctx, d.final(Failed, p.reason))
		if err == nil {
			w.logger.InfoContext(ctx, "delivery given up", append(d.names(), "reason", p.reason)...)
		}
		return err
	default:
		return w.attempt(ctx, j, d, *j.target.webhook, p.probe)
	}
}

// names are what the log calls a delivery by.
func (d Delivery) names() []any {
	return []any{"delivery", d.ID, "webhook", d.WebhookID, "event", d.EventID}
}

// wait has a message that came too early come again, or the index bring the delivery back.
func (w *Worker) wait(ctx context.Context, j job, d Delivery, until, now time.Time) error {
	if soon(until, now) {
		return w.later(ctx, j, until.Sub(now))
	}
	if d.DueAt != nil && d.DueAt.Time().Equal(until) {
		return nil
	}
	return w.move(ctx, d.put(until))
}

// later hides the message for so long. If that fails, it comes when its visibility ends, or the retry job brings it back.
func (w *Worker) later(ctx context.Context, j job, wait time.Duration) error {
	if err := w.deliveries.Hide(ctx, j.message.ReceiptHandle, wait); err != nil {
		w.logger.WarnContext(ctx, "a message was not hidden", "messageId", j.message.ID, "cause", err.Error())
	}
	return fmt.Errorf("%w: the next attempt is in %v", lambdafn.ErrLater, wait.Round(time.Millisecond))
}

// park steps back from an unhealthy endpoint that another delivery is trying.
func (w *Worker) park(ctx context.Context, j job, d Delivery, now time.Time) error {
	err := w.move(ctx, d.put(now.Add(parkTime(j.target.webhook.FailingSince, now, w.jitter()))))
	if err == nil {
		j.batch.tally.count(metricParked)
	}
	return err
}

// move stores a transition. Error: errMoved.
func (w *Worker) move(ctx context.Context, d Delivery) error {
	_, err := w.store.save(ctx, d)
	return err
}

// attempt makes one.
func (w *Worker) attempt(ctx context.Context, j job, d Delivery, hook Webhook, probe bool) error {
	if j.batch.begin.Err() != nil {
		return fmt.Errorf("%w: too little time is left for an attempt", lambdafn.ErrLater)
	}
	now := w.now()
	secrets, err := w.secrets(ctx, hook, now)
	if err != nil {
		return err
	}
	hook.ProbeUntil = nil // another's lease is not this attempt's to give back
	if probe {
		lease, err := w.takeProbe(ctx, j, hook, now)
		if err != nil {
			return err
		}
		if lease == nil {
			return w.park(ctx, j, d, now)
		}
		hook.ProbeUntil = lease
	}
	jitter := w.jitter()
	claimed, at := d.claimed(hook, now, jitter)
	if claimed, err = w.store.save(ctx, claimed); err != nil {
		return err
	}
	body := []byte(d.Payload)
	result := w.send(ctx, sender.Request{
		URL: hook.URL, Body: body, Header: signature.Sign(secrets, d.EventID, d.ID, string(d.Type), at.Time(), body),
	})
	return w.finish(ctx, j, claimed, hook, at, result, jitter)
}

// takeProbe takes the probe lease of an unhealthy endpoint, nil if another delivery has it.
func (w *Worker) takeProbe(ctx context.Context, j job, hook Webhook, now time.Time) (*clock.Timestamp, error) {
	if _, other := j.batch.probes.LoadOrStore(hook.ID, true); other { // no need to ask
		return nil, nil
	}
	lease := clock.Stamp(now.Add(leaseTime))
	taken, err := w.store.takeProbe(ctx, hook, now, lease.Time())
	if err != nil || !taken {
		return nil, err
	}
	return &lease, nil
}

// finish records how an attempt ended, and what that says of the endpoint.
func (w *Worker) finish(
	ctx context.Context, j job, claimed Delivery, hook Webhook, at clock.Timestamp, r sender.Result, jitter float64,
) error {
	now := w.now()
	v := judge(claimed, hook, r, now, jitter)
	if v.fate == fateDisable && !w.disable(ctx, j, hook, r, v, now) {
		v = onward(claimed, r, now, jitter)
	}
	w.tell(ctx, j, claimed, r, v, now)
	if r.Aborted {
		return nil // the function's time is over: it stands there as interrupted, and the index brings it back
	}
	d, err := w.record(ctx, claimed, attemptOf(at, r), v, now)
	if err != nil {
		return err
	}
	if v.fate != fateDisable { // that has noted it
		w.noteHealth(ctx, hook, r, now)
	}
	if d.Status == Pending && d.Manual > 0 {
		return w.goOn(ctx, j)
	}
	next := clock.Stamp(v.at)
	if v.fate == fateRetry && soon(v.at, now) && d.NextAttemptAt != nil && d.NextAttemptAt.Equal(next) {
		return w.later(ctx, j, v.at.Sub(now))
	}
	return nil
}

// maxReceives is how often a message comes whose delivery goes on at once. The queue takes one that comes ten times for one that kills
// its function.
const maxReceives = 7

// goOn has the message come again at once for the next attempt that was asked for by hand: the messages of those who asked may
// have come, and gone, while this one was made. If it has come too often already, the index brings the delivery back.
func (w *Worker) goOn(ctx context.Context, j job) error {
	if j.message.Receives >= maxReceives {
		return nil
	}
	return w.later(ctx, j, 0)
}

// recordTries bounds how often a record is tried that meets others, or a table that is away: what is not recorded is sent again.
const recordTries = 6

// record stores how an attempt ended and answers with the delivery as it is then. Where somebody has moved it meanwhile, which a
// redelivery may, the attempt is put right beside what was done.
func (w *Worker) record(ctx context.Context, claimed Delivery, a Attempt, v verdict, now time.Time) (Delivery, error) {
	d := claimed
	var err error
	for try := range recordTries {
		if try > 0 {
			if !awsclient.Sleep(ctx, awsclient.Jitter(try)) {
				break
			}
			var current Delivery
			if current, err = w.store.delivery(ctx, claimed.WebhookID, claimed.ID); errors.Is(err, db.ErrNotFound) {
				return claimed, nil // it has expired
			} else if err != nil {
				continue
			}
			d = current
		}
		next, news := d.recorded(a, claimed.Manual > 0, v, now)
		if !news {
			return d, nil
		}
		if next, err = w.store.save(ctx, next); err == nil {
			return next, nil
		}
		if !errors.Is(err, errMoved) && !errors.Is(err, db.ErrUnavailable) {
			break
		}
	}
	return d, fmt.Errorf("%w, of %s: %w", errUnrecorded, claimed.ID, err)
}

// errUnrecorded says that an attempt was made and nobody will know what came of it.
var errUnrecorded = errors.New("webhook: an attempt was not recorded")

// noteHealth notes what an attempt says of the endpoint. The delivery is recorded by then: a failure here is told, no more.
func (w *Worker) noteHealth(ctx context.Context, hook Webhook, r sender.Result, now time.Time) {
	after := hook.after(r, now)
	if !after.newsSince(hook.Health) {
		return
	}
	if err := w.store.noteHealth(ctx, hook, after); err != nil {
		w.logger.WarnContext(ctx, "an endpoint's health was not noted", "webhook", hook.ID, "cause", err.Error())
	}
}

// disable switches a webhook off, and reports false if the verdict does not concern it any more: by now it has another endpoint, or
// a success. It comes before the attempt's record, which depends on that. Whoever dies between the two leaves a delivery that stands there as
// interrupted, and fails at its next turn because the webhook is off.
func (w *Worker) disable(ctx context.Context, j job, hook Webhook, r sender.Result, v verdict, now time.Time) bool {
	disabled, err := w.store.disable(ctx, hook, hook.after(r, now), v, now)
	if err != nil { // the next failure says so again
		w.logger.ErrorContext(ctx, "a webhook was not disabled", "webhook", hook.ID, "reason", v.reason, "cause", err.Error())
		return true
	}
	if disabled {
		j.batch.tally.count(metricDisabled)
		w.logger.WarnContext(ctx, "webhook disabled", "webhook", hook.ID, "reason", v.reason)
		return true
	}
	current, err := w.store.webhook(ctx, hook.WorkspaceID, hook.ID)
	return err != nil || current.Generation == hook.Generation && !current.Active
}

// outcomes are what the log calls fates.
var outcomes = map[fate]string{
	fateDone: "succeeded", fateRetry: "to be retried", fateGiveUp: "given up", fateDisable: "given up, webhook disabled",
}

// tell logs an attempt and counts it. What is in the request, the answer or the url stays out of it.
func (w *Worker) tell(ctx context.Context, j job, d Delivery, r sender.Result, v verdict, now time.Time) {
	outcome := outcomes[v.fate]
	if r.Aborted {
		outcome = "interrupted"
	}
	attrs := append(d.names(), "type", string(d.Type), "attempt", d.Tries, "status", r.StatusCode,
		"durationMs", r.Duration.Milliseconds(), "outcome", outcome)
	if r.Error != "" {
		attrs = append(attrs, "cause", r.Error)
	}
	if v.fate == fateRetry {
		attrs = append(attrs, "next", clock.Stamp(v.at).String())
	}
	w.logger.InfoContext(ctx, "delivery attempt", attrs...)
	j.batch.tally.count(metricAttempts)
	if !r.OK() {
		j.batch.tally.count(metricFailures)
		return
	}
	j.batch.tally.count(metricSuccesses)
	if happened, first := d.first(); first {
		j.batch.tally.observe(metricLatency, metric.Milliseconds, float64(now.Sub(happened).Milliseconds()))
	}
}
