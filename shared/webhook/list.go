package webhook

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"devplatform/shared/httpapi"
	"devplatform/shared/workspace"
)

// maxQueries is how many workspaces are read at once.
const maxQueries = 16

// list is a page of the webhooks that the caller administers, in the order in which they were made, with the cursor of the next
// page, "" if it is the last. One query a workspace, beside each other; workspaceID, unless it is "", names one.
func (s *Service) list(ctx context.Context, workspaceID string, page httpapi.PageInput) ([]WebhookItem, string, error) {
	scope := httpapi.ListScope(httpapi.CallerFrom(ctx), "webhooks", workspaceID)
	after, err := s.cursors.Open(ctx, scope, page.Cursor)
	if err != nil {
		return nil, "", err
	}
	workspaces, err := s.administered(ctx, workspaceID)
	if err != nil {
		return nil, "", err
	}
	all, err := s.webhooksIn(ctx, workspaces)
	if err != nil {
		return nil, "", err
	}
	slices.SortFunc(all, func(a, b Webhook) int { return cmp.Compare(a.ID, b.ID) })
	items := make([]WebhookItem, 0, len(all))
	for _, w := range all {
		if w.ID > after {
			items = append(items, w.item())
		}
	}
	n := httpapi.Fit(items, page.Limit)
	if n == len(items) {
		return items, "", nil
	}
	next, err := s.cursors.Seal(ctx, scope, items[n-1].ID)
	return items[:n], next, err
}

// administered are the ids of the workspaces whose webhooks the caller may work on, or of the one that is asked for.
func (s *Service) administered(ctx context.Context, workspaceID string) ([]string, error) {
	if workspaceID != "" {
		return []string{workspaceID}, s.administers(ctx, workspaceID, workspace.ErrNotFound)
	}
	members, err := s.places.memberships(ctx, httpapi.CallerFrom(ctx).UserID)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, member := range members {
		if member.Role.May(workspace.ManageWebhooks) {
			ids = append(ids, member.WorkspaceID)
		}
	}
	return ids, nil
}

// webhooksIn are the webhooks of workspaces. One that can't be read is left out, and does not hide the others.
func (s *Service) webhooksIn(ctx context.Context, workspaces []string) ([]Webhook, error) {
	found := make([][]Webhook, len(workspaces))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(maxQueries)
	for i, workspaceID := range workspaces {
		group.Go(func() error {
			readable, broken, err := s.store.readableWebhooks(groupCtx, workspaceID)
			for _, b := range broken {
				s.logger.ErrorContext(ctx, "a webhook can't be read, and is not listed", "key", b.key.SK, "cause", b.cause.Error())
			}
			found[i] = readable
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err //nolint:wrapcheck // our own, from the function above
	}
	return slices.Concat(found...), nil
}
