package delivery

import (
	"context"
	cryptorand "crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
	"devplatform/shared/mail"
	"devplatform/shared/metric"
	"devplatform/shared/queue"
	"devplatform/shared/webhook/notice"
	"devplatform/shared/webhook/sender"
)

// Deps are the dependencies of Fanout, the workers and RetryJob.
type Deps struct {
	Store      Store
	Fast, Slow queue.Queue // the queues of the lanes
	Creations  queue.Queue // messages that ask SlowWorker to create deliveries
	Clock      clock.Clock
	Logger     *slog.Logger
	Metrics    *metric.Metrics
}

// WorkerDeps are the dependencies of the workers.
type WorkerDeps struct {
	Deps
	Failures queue.Queue // receives the messages that cannot be handled
	Keys     *config.Keys
	// Sender must have the timeout of the lane: PromptTime in the fast lane, 15 s in the slow lane.
	Sender *sender.Sender
	// Notices stores the mails about disabled webhooks.
	Notices *notice.Mails
}

// WorkerSettings are the environment variables of the functions of both lanes.
type WorkerSettings struct {
	AWS    config.AWS
	Tables config.WebhooksTable
	Events config.EventsTable
	// Records are the tables of users, workspaces and mails.
	Records config.Tables
	Mail    mail.Settings
	Queues  config.DeliveryQueues
	Metrics config.Metrics
	// Failures is the URL of the queue for messages that cannot be handled.
	Failures string `env:"FAILURES_QUEUE,required,notEmpty"`
	// Keys is the name or ARN of the secret with the key ring.
	Keys string `env:"KEYS_SECRET,required,notEmpty"`
	// AllowPrivate allows endpoints on private addresses and with plain http. Only the local platform sets it.
	AllowPrivate bool `env:"WEBHOOK_ALLOW_PRIVATE"`
}

// Deps returns the dependencies of a worker. timeout is the time limit of an attempt; 0 is 15 s. creations is the URL
// of the queue Creations, which only SlowWorker uses. Deps fetches the key ring in the background.
func (s WorkerSettings) Deps(
	timeout time.Duration, creations string, now clock.Clock, logger *slog.Logger,
) WorkerDeps {
	client, queues := db.New(s.AWS, now), queue.New(s.AWS)
	keys := config.NewSecrets(s.AWS, s.Metrics, now, logger).Keys(s.Keys)
	mails := mail.NewOutbox(client, s.Records, keys, id.NewGenerator(now, cryptorand.Reader), now, s.Mail)
	return WorkerDeps{
		Deps: Deps{
			Store: Store{
				Client: client, Table: client.Table(s.Tables.Webhooks), Events: client.Table(s.Events.Events),
				Projects: client.Table(s.Records.Projects),
			},
			Fast: queues.Queue(s.Queues.Fast), Slow: queues.Queue(s.Queues.Slow), Creations: queues.Queue(creations),
			Clock: now, Logger: logger, Metrics: metric.New(logger, s.Metrics.Namespace, now),
		},
		Failures: queues.Queue(s.Failures), Keys: keys,
		Sender:  sender.New(sender.Options{AllowPrivate: s.AllowPrivate, Now: now, Timeout: timeout}),
		Notices: notice.New(client, s.Records, mails),
	}
}

// worker is the part that FastWorker and SlowWorker share.
type worker struct {
	WorkerDeps
	lane    lane
	secrets func(context.Context, Webhook, time.Time) ([]string, error) // Secrets.Live
	send    func(context.Context, sender.Request) sender.Result         // Sender.Send
	jitter  func() float64                                              // random, from -1 to 1
}

func newWorker(d WorkerDeps, l lane) *worker {
	jitter := func() float64 { return 2*rand.Float64() - 1 } //nolint:gosec // jitter needs no secure random numbers
	return &worker{WorkerDeps: d, lane: l, secrets: Secrets{d.Keys}.Live, send: d.Sender.Send, jitter: jitter}
}

// attemptTime is the time that an invocation reserves for an attempt: up to 15 s for the request, and the rest for
// storing the result.
const attemptTime = 17 * time.Second

// invocation is the state that the attempts of one invocation share.
type invocation struct {
	tally
	start context.Context // ends when too little time remains to begin an attempt
}

func newInvocation(ctx context.Context) (*invocation, context.CancelFunc) {
	start, cancel := async.WithMargin(ctx, attemptTime) // attempts use ctx, so they have the margin
	return &invocation{start: start}, cancel
}

// reject moves a message that cannot be handled to the failure queue.
func (w *worker) reject(ctx context.Context, m lambdafn.QueueMessage, reason error) error {
	w.Logger.ErrorContext(ctx, "message cannot be handled", "messageId", m.ID, "cause", reason.Error())
	return w.Failures.PoisonMessage(ctx, m.ID, m.Body, reason)
}

// maxReceives limits how often a message can be returned to its queue because another attempt or turn is due soon. The
// queue moves a message to its dead-letter queue after ten receives.
const maxReceives = 7

// returnTo returns a message to its queue, where it becomes visible after a wait. If that fails, the message becomes
// visible at the end of its visibility timeout, or the retry job sends a new one. It always returns lambdafn.ErrLater.
func (w *worker) returnTo(ctx context.Context, q queue.Queue, m lambdafn.QueueMessage, wait time.Duration) error {
	if err := q.ReturnAfter(ctx, m.ReceiptHandle, wait); err != nil {
		w.Logger.WarnContext(ctx, "message was not returned to the queue", "messageId", m.ID, "cause", err.Error())
	}
	return fmt.Errorf("%w: the message is visible again in %v", lambdafn.ErrLater, wait.Round(time.Millisecond))
}

// saveHealth stores the health of endpoints after attempts that were made at the same time, with one write for each
// endpoint whose health changed. The results are already recorded, so an error is only logged.
func (w *worker) saveHealth(ctx context.Context, attempts []*attempt) {
	type endpoint struct {
		webhookID  string
		generation int
	}
	byEndpoint := map[endpoint][]*attempt{}
	for _, a := range attempts {
		if a.changesHealth {
			e := endpoint{a.webhook.ID, a.webhook.Generation}
			byEndpoint[e] = append(byEndpoint[e], a)
		}
	}
	groups := slices.Collect(maps.Values(byEndpoint))
	_ = lambdafn.Parallel(len(groups), len(groups), func(i int) error {
		all := groups[i]
		slices.SortStableFunc(all, func(a, b *attempt) int { return a.endedAt.Compare(b.endedAt) })
		webhook, succeeded := *all[0].webhook, false
		health := webhook.Health
		for _, a := range all {
			health, succeeded = health.after(a.result, a.endedAt), succeeded || a.result.OK()
		}
		endsSeries := succeeded && webhook.FailingSince != nil
		if !endsSeries && !health.changedSince(webhook.Health) {
			return nil
		}
		if err := w.Store.putHealth(ctx, webhook, health, succeeded); err != nil {
			w.Logger.WarnContext(ctx, "endpoint health was not stored", "webhook", webhook.ID, "cause", err.Error())
		}
		return nil
	})
}
