package main

import (
	"context"
	"errors"

	"devplatform/infra/operator/takedown"
	"devplatform/shared/account/activity"
	"devplatform/shared/account/user"
	"devplatform/shared/assistant/quota"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/site"
)

// site returns the label and the record of an address, and the owner of its project.
func (o *operator) site(ctx context.Context, query string) (label string, a site.Address, u user.User, err error) {
	label = labelOf(query)
	if a, err = o.takedowns.Address(ctx, label); err != nil {
		return label, a, u, err
	}
	userID, err := o.access.Account(ctx, a.WorkspaceID)
	if err != nil {
		return label, a, u, err
	}
	u, err = o.users.Read(ctx, userID)
	return label, a, u, err
}

func (o *operator) blockSite(ctx context.Context, r request) error { return o.setSite(ctx, r, true) }

func (o *operator) unblockSite(ctx context.Context, r request) error { return o.setSite(ctx, r, false) }

func (o *operator) setSite(ctx context.Context, r request, blocked bool) error {
	label, a, u, err := o.site(ctx, r.argument)
	if isNotFound(err) {
		return errors.New(r.argument + ": there is no such site")
	}
	if err != nil {
		return err
	}
	o.print(u)
	act, what, entry := "block-site", "will be blocked", activity.SiteBlocked
	if !blocked {
		act, what, entry = "unblock-site", "will be shown again", activity.SiteUnblocked
	}
	if err := o.confirm(r, "The address "+label+" of project "+a.ProjectID+" "+what+".", u.Username); err != nil {
		return err
	}
	err = o.takedowns.SetAddress(ctx, label, blocked, o.record(r, act, label, u),
		o.activity.Add(u.ID, entry, httpapi.RequestInfo{}, activity.Detail{}))
	return o.outcome(err, act+" "+label)
}

func (o *operator) blockProject(ctx context.Context, r request) error {
	return o.setProject(ctx, r, true)
}

func (o *operator) unblockProject(ctx context.Context, r request) error {
	return o.setProject(ctx, r, false)
}

func (o *operator) setProject(ctx context.Context, r request, blocked bool) error {
	workspaceID, u, err := o.ownerOf(ctx, r.argument)
	if isNotFound(err) {
		return errors.New(r.argument + ": there is no such project")
	}
	if err != nil {
		return err
	}
	o.print(u)
	act, what, entry := "block-project", "will be blocked", activity.SiteBlocked
	if !blocked {
		act, what, entry = "unblock-project", "will be shown again", activity.SiteUnblocked
	}
	if err := o.confirm(r, "All addresses of project "+r.argument+" "+what+".", u.Username); err != nil {
		return err
	}
	err = o.takedowns.SetProject(ctx, workspaceID, r.argument, blocked, o.record(r, act, r.argument, u),
		o.activity.Add(u.ID, entry, httpapi.RequestInfo{}, activity.Detail{}))
	return o.outcome(err, act+" "+r.argument)
}

// outcome prints the outcome of an act.
func (o *operator) outcome(err error, act string) error {
	if errors.Is(err, takedown.ErrUnchanged) {
		o.printf("Nothing to change.\n")
		return nil
	}
	if err == nil {
		o.printf("Done: %s.\n", act)
	}
	return err
}

// show prints the workspaces, the sites and the usage of an account.
func (o *operator) show(ctx context.Context, r request) error {
	u, err := o.lookup(ctx, r.argument)
	if err != nil {
		return err
	}
	o.print(u)
	all, err := o.access.UserWorkspaces(ctx, u.ID)
	if err != nil {
		return err
	}
	for _, d := range all {
		o.printf("workspace  %s  %q: %s; %d members, %d owners, %d projects\n",
			d.Workspace.ID, d.Workspace.Name, roleOf(d), d.Workspace.Members, d.Workspace.Owners, d.Workspace.Projects)
		items, err := o.access.Projects.QueryAll(ctx, db.ProjectsOf(d.Workspace.ID), "id", "name", "site", "siteBlocked")
		if err != nil {
			return err
		}
		for _, item := range items {
			p, err := db.Decode[struct {
				ID      string        `dynamodbav:"id"`
				Name    string        `dynamodbav:"name"`
				Site    *site.Summary `dynamodbav:"site"`
				Blocked bool          `dynamodbav:"siteBlocked"`
			}](item)
			if err == nil && p.Site != nil {
				o.printf("  site     %s  %q: label %s, live %t, blocked %t\n", p.ID, p.Name, p.Site.Label,
					p.Site.DeploymentID != "", p.Blocked)
			}
		}
	}
	return o.showUsage(ctx, u)
}

// showUsage prints what an account used in this month, and what it stores.
func (o *operator) showUsage(ctx context.Context, u user.User) error {
	month := quota.MonthOf(o.now()).String()
	refs := []db.Ref{
		o.db.Table(o.Conversations).Ref(db.UsageKey(u.ID, month)), o.db.Table(o.Projects).Ref(db.OutputKey(u.ID)),
		o.db.Table(o.Sites).Ref(db.TrafficKey(u.ID, month)),
	}
	items, err := o.db.BatchGet(ctx, refs...)
	if err != nil {
		return err
	}
	type counter struct { // each item has some of these attributes
		Bytes  int `dynamodbav:"bytes"`
		Input  int `dynamodbav:"input"`
		Output int `dynamodbav:"output"`
	}
	var counters [3]counter
	for i, ref := range refs {
		if counters[i], err = db.Decode[counter](items[ref]); err != nil {
			return err
		}
	}
	sessions, err := o.db.Table(o.Accounts).QueryAll(ctx, db.SessionsOf(u.ID), "generation")
	if err != nil {
		return err
	}
	active := 0
	for _, item := range sessions {
		s, err := db.Decode[struct {
			Generation int `dynamodbav:"generation"`
		}](item)
		if err == nil && s.Generation == u.Generation && u.SuspendedAt == nil {
			active++
		}
	}
	o.printf("usage      %s: %d tokens of the assistant, %d bytes of traffic\n", month,
		counters[0].Input+counters[0].Output, counters[2].Bytes)
	o.printf("stored     %d bytes of output of deployments\nsessions   %d active\n", counters[1].Bytes, active)
	return nil
}
