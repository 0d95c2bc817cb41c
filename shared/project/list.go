package project

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"

	"golang.org/x/text/unicode/norm"

	"devplatform/shared/async"
	"devplatform/shared/workspace"
)

// maxQueries is the maximum number of concurrent calls to storage of a request.
const maxQueries = 16

// projects returns all projects that the filter of a request selects, most recently opened first.
func (s *Service) projects(ctx context.Context, userID string, filter *projectListInput) ([]ProjectItem, error) {
	members, err := s.memberships(ctx, userID, filter.WorkspaceID)
	if err != nil {
		return nil, err
	}
	found := make([][]projectRecord, len(members))
	group, groupCtx := async.WithContext(ctx)
	group.SetLimit(maxQueries)
	complete := members
	if filter.WorkspaceID == "" {
		group.Go(func() (err error) {
			complete, err = s.store.Complete(groupCtx, members)
			return err
		})
	}
	for i, member := range members {
		group.Go(func() (err error) {
			found[i], err = s.store.projectsOf(groupCtx, member.WorkspaceID)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	byWorkspace := map[string][]projectRecord{}
	for i, member := range members {
		byWorkspace[member.WorkspaceID] = found[i]
	}
	framework, text := foldCase(filter.Framework), foldCase(filter.Q)
	items := []ProjectItem{}
	for _, member := range complete {
		for _, p := range byWorkspace[member.WorkspaceID] {
			access := workspace.ProjectAccess{
				UserID: userID, Visibility: p.Visibility, CreatedBy: p.CreatedBy, Member: member,
			}
			matches := (framework == "" || foldCase(p.Framework) == framework) &&
				(filter.Visibility == "" || p.Visibility == filter.Visibility) &&
				(text == "" || strings.Contains(foldCase(p.Name), text) || strings.Contains(p.Slug, text))
			if matches && access.CanSee() {
				p.SiteBlocked = p.SiteBlocked || member.ReadOnly
				items = append(items, p.item(member.Name, s.sites))
			}
		}
	}
	slices.SortFunc(items, func(a, b ProjectItem) int { // by position, without formatting the times
		return cmp.Or(b.LastOpenedAt.Time().Compare(a.LastOpenedAt.Time()), cmp.Compare(b.ID, a.ID))
	})
	return items, nil
}

// memberships returns the user's memberships, without the names of the workspaces. If workspaceID is not "", it returns
// only the membership in this workspace, with the name.
func (s *Service) memberships(ctx context.Context, userID, workspaceID string) ([]workspace.Membership, error) {
	if workspaceID == "" {
		return s.store.Memberships(ctx, userID)
	}
	member, err := s.store.Membership(ctx, userID, workspaceID)
	return []workspace.Membership{member}, err
}

// foldCase returns a normalized string for comparisons that ignore case and the Unicode encoding of accents.
func foldCase(s string) string { return strings.ToLower(strings.ToUpper(norm.NFC.String(s))) }

// position returns the sort key of the project: lastOpenedAt, then the ID. Lists are sorted by position, in
// descending order.
func (p ProjectItem) position() string { return p.LastOpenedAt.String() + " " + p.ID }

// itemsAfter returns the items that come after a position in a sorted list. "" is the start of the list.
func itemsAfter(all []ProjectItem, after string) []ProjectItem {
	if after == "" {
		return all
	}
	return all[sort.Search(len(all), func(i int) bool { return all[i].position() < after }):]
}
