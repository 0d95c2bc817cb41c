// Package reencrypt encrypts the secrets of webhooks with the current key of the key ring, so that the other keys can
// be removed from the ring. It can be interrupted and repeated. RUNBOOK.md describes when to use it.
package reencrypt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/webhook/delivery"
)

// Command encrypts the secrets in a table of webhooks.
type Command struct {
	SDK     *dynamodb.Client
	Table   string // the name of the table
	Client  *db.Client
	Secrets delivery.Secrets
	Clock   clock.Clock
}

func (c Command) webhooks() db.Table { return c.Client.Table(c.Table) }

// Result is the result of a run.
type Result struct {
	current string         // the ID of the current key
	changed int            // the number of webhooks whose secrets were encrypted again
	secrets map[string]int // the number of secrets that are encrypted with each key, after the run
	lost    []string       // the webhooks that cannot be decoded, or have a secret that cannot be decrypted
}

// Run encrypts all secrets that are not encrypted with the current key, including replaced secrets that are still
// valid. It changes a webhook only if the webhook was not changed after it was read.
func (c Command) Run(ctx context.Context) (Result, error) {
	var err error
	r := Result{secrets: map[string]int{}}
	if r.current, _, err = c.Secrets.Keys.Current(ctx, "reencrypt"); err != nil {
		return r, err
	}
	filter, err := expression.NewBuilder().WithFilter(expression.Name("secret").AttributeExists()).Build()
	if err != nil {
		return r, fmt.Errorf("filter: %w", err)
	}
	pages := dynamodb.NewScanPaginator(c.SDK, &dynamodb.ScanInput{
		TableName: &c.Table, ConsistentRead: aws.Bool(true), FilterExpression: filter.Filter(),
		ExpressionAttributeNames: filter.Names(), ExpressionAttributeValues: filter.Values(),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return r, fmt.Errorf("reading %s: %w", c.Table, err)
		}
		for _, item := range page.Items {
			w, err := delivery.DecodeWebhook(item)
			if err != nil { // it must not keep the other secrets encrypted with a leaked key
				r.lost = append(r.lost, db.KeyOf(item).SK)
				continue
			}
			if err := c.update(ctx, &r, w); err != nil {
				return r, fmt.Errorf("webhook %s: %w", w.ID, err)
			}
		}
	}
	return r, nil
}

// update encrypts the secrets of one webhook and adds them to the result. read is the webhook as it was read.
func (c Command) update(ctx context.Context, r *Result, read delivery.Webhook) error {
	var next delivery.Webhook
	changed, lost := false, false
	err := db.Retry(ctx, "encrypt the secrets of a webhook", func(ctx context.Context) (err error) {
		if next, changed, lost, err = c.encrypt(ctx, read, r.current); err != nil || !changed {
			return err
		}
		err = c.store(ctx, read, next)
		if !errors.Is(err, db.ErrStale) {
			return err
		}
		item, readErr := c.webhooks().Get(ctx, db.WebhookKey(read.WorkspaceID, read.ID))
		if readErr != nil {
			return readErr
		}
		if read, readErr = db.Decode[delivery.Webhook](item); readErr != nil {
			return readErr
		}
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		return nil // the webhook was deleted in the meantime
	}
	if err != nil {
		return err
	}
	if changed {
		r.changed++
	}
	if lost {
		r.lost = append(r.lost, next.ID)
	}
	for _, sealed := range c.sealedSecrets(&next) {
		r.secrets[delivery.KeyID(*sealed)]++
	}
	return nil
}

// sealedSecrets returns the sealed secrets of a webhook that are in use: the current secret, and the replaced secrets
// that are still valid.
func (c Command) sealedSecrets(w *delivery.Webhook) []*string {
	all := []*string{&w.Secret}
	for i := range w.Previous {
		if w.Previous[i].Until.Time().After(c.Clock()) {
			all = append(all, &w.Previous[i].Sealed)
		}
	}
	return all
}

// encrypt returns the webhook with its secrets encrypted with the current key. changed reports whether there is a
// difference, and lost whether a secret cannot be decrypted and was left as it is. Error: config.ErrUnavailable.
func (c Command) encrypt(
	ctx context.Context, w delivery.Webhook, current string,
) (next delivery.Webhook, changed, lost bool, err error) {
	w.Previous = slices.Clone(w.Previous)
	for _, sealed := range c.sealedSecrets(&w) {
		if delivery.KeyID(*sealed) == current {
			continue
		}
		secret, err := c.Secrets.Open(ctx, w.ID, *sealed)
		if errors.Is(err, config.ErrUnavailable) {
			return w, false, false, err
		}
		if err != nil {
			lost = true
			continue
		}
		if *sealed, err = c.Secrets.Seal(ctx, w.ID, secret); err != nil {
			return w, false, false, err
		}
		changed = true
	}
	return w, changed, lost, nil
}

// store stores the secrets of a webhook as the next revision of its settings, so that a concurrent change of the
// settings, which also stores the secrets, is repeated. Error: db.ErrStale if the webhook was changed or deleted.
func (c Command) store(ctx context.Context, read, next delivery.Webhook) error {
	record, err := db.Encode(next)
	if err != nil {
		return err
	}
	revision := expression.Name("revision")
	update := expression.Set(expression.Name("secret"), expression.Value(next.Secret)).
		Set(revision, expression.Value(read.Revision+1))
	if len(next.Previous) > 0 {
		update = update.Set(expression.Name("previous"), expression.Value(record["previous"]))
	}
	_, err = c.Client.DoOnce(ctx, c.webhooks().Update(db.WebhookKey(read.WorkspaceID, read.ID), update).
		If(revision.Equal(expression.Value(read.Revision))))
	if errors.Is(err, db.ErrConditionFailed) {
		return fmt.Errorf("%w: %w", db.ErrStale, err)
	}
	return err
}

// errOtherKeys reports that not all secrets are encrypted with the current key.
var errOtherKeys = errors.New("other keys are still in use: do not remove them from the key ring")

// Print prints how many secrets each key protects. Error: errOtherKeys.
func (r Result) Print(out io.Writer) error {
	_, _ = fmt.Fprintf(out, "The secrets of %d webhooks were encrypted with the current key %s.\n", r.changed, r.current)
	for _, kid := range slices.Sorted(maps.Keys(r.secrets)) {
		_, _ = fmt.Fprintf(out, "%-20s protects %d secrets\n", kid, r.secrets[kid])
	}
	for _, webhookID := range r.lost {
		_, _ = fmt.Fprintf(out, "%s cannot be decoded, or has a secret that cannot be decrypted\n", webhookID)
	}
	if n := r.secrets[r.current]; len(r.secrets) > 1 || (len(r.secrets) == 1 && n == 0) {
		return errOtherKeys
	}
	_, _ = fmt.Fprintln(out, "No other key protects a secret of a webhook.")
	return nil
}
