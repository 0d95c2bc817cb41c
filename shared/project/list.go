package project

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/workspace"
)

// filter narrows the list of projects; what is empty narrows nothing.
type filter struct {
	WorkspaceID string
	Framework   string     // ignoring case
	Visibility  Visibility // as it is
	Q           string     // a part of the name, ignoring case, or of the slug
}

// listed is a project in a list, with the caller's place in its workspace.
type listed struct {
	project projectRecord
	member  workspace.Membership
}

// maxQueries is how many workspaces are read at once.
const maxQueries = 16

// list is every project that the user sees, last opened first: one query a workspace, beside each other.
func (s *Service) list(ctx context.Context, userID string, f filter) ([]listed, error) {
	members, err := s.places(ctx, userID, f.WorkspaceID)
	if err != nil {
		return nil, err
	}
	found := make([][]projectRecord, len(members))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(maxQueries)
	for i, member := range members {
		group.Go(func() error {
			var err error
			found[i], err = s.store.projectsOf(groupCtx, member.WorkspaceID)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err //nolint:wrapcheck // our own, from the functions above
	}
	matches := f.matcher()
	var all []listed
	for i, member := range members {
		for _, p := range found[i] {
			if visibleTo(p, member.Role, userID) && matches(p) {
				all = append(all, listed{p, member})
			}
		}
	}
	slices.SortFunc(all, func(a, b listed) int {
		return cmp.Or(b.project.LastOpenedAt.Time().Compare(a.project.LastOpenedAt.Time()), cmp.Compare(b.project.ID, a.project.ID))
	})
	return all, nil
}

// places are a user's workspaces, or the one that is asked for.
func (s *Service) places(ctx context.Context, userID, workspaceID string) ([]workspace.Membership, error) {
	if workspaceID == "" {
		return s.store.memberships(ctx, userID)
	}
	member, err := s.store.membership(ctx, workspaceID, userID)
	if errors.Is(err, db.ErrNotFound) {
		return nil, workspace.ErrNotFound
	}
	return []workspace.Membership{member}, err
}

// matcher reports whether a project passes the filter.
func (f filter) matcher() func(projectRecord) bool {
	framework, q := folded(f.Framework), folded(f.Q)
	return func(p projectRecord) bool {
		return (f.Framework == "" || folded(p.Framework) == framework) &&
			(f.Visibility == "" || p.Visibility == f.Visibility) &&
			(f.Q == "" || strings.Contains(folded(p.Name), q) || strings.Contains(p.Slug, q))
	}
}

// position is a project's place in the list, which is in falling order of it: by the time of the last opening, then by id.
func (l listed) position() string { return position(l.project.LastOpenedAt, l.project.ID) }

func position(opened clock.Timestamp, projectID string) string {
	return opened.String() + " " + projectID
}

// behind are those of a sorted list that come after a position; "" is the beginning.
func behind(all []listed, position string) []listed {
	if position == "" {
		return all
	}
	i, _ := slices.BinarySearchFunc(all, position, func(l listed, at string) int {
		return -cmp.Compare(l.position(), at)
	})
	if i < len(all) && all[i].position() == position {
		i++
	}
	return all[i:]
}
