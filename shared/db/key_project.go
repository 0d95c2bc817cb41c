package db

import (
	"cmp"
	"strconv"
	"strings"

	"devplatform/shared/id"
)

// The keys of workspaces, their members, projects and webhooks, and of the assistant.

// WorkspaceKey returns the key of a workspace.
func WorkspaceKey(workspaceID string) Key { return newKey(workspacePK(workspaceID), "WORKSPACE") }

// RemovalKey returns the key of the removal of a workspace or an account, by its ID.
func RemovalKey(workspaceOrUserID string) Key {
	part := cmp.Or(idPart(id.Workspace, workspaceOrUserID), idPart(id.User, workspaceOrUserID))
	return newKey(join("REMOVAL", part), "REMOVAL")
}

// WorkspacePartition selects all items that are stored under the ID of a workspace, in any table.
func WorkspacePartition(workspaceID string) Prefix { return Prefix{PK: workspacePK(workspaceID)} }

// MemberKey returns the key of a member of a workspace.
func MemberKey(workspaceID, userID string) Key {
	return idKey(workspacePK(workspaceID), "MEMBER", id.User, userID)
}

// MembershipKey returns the key of the copy of a member's item that is stored under the user, to list the workspaces of
// the user.
func MembershipKey(userID, workspaceID string) Key {
	return idKey(userPK(userID), "WS", id.Workspace, workspaceID)
}

// MembersOf selects the members of a workspace.
func MembersOf(workspaceID string) Prefix { return kindPrefix(workspacePK(workspaceID), "MEMBER") }

// MembershipsOf selects the memberships of a user.
func MembershipsOf(userID string) Prefix { return kindPrefix(userPK(userID), "WS") }

// FormerMembershipKey returns the key of the item that records that a user was a member of a workspace.
func FormerMembershipKey(userID, workspaceID string) Key {
	return idKey(userPK(userID), "FORMER", id.Workspace, workspaceID)
}

// FormerMembershipsOf selects the former memberships of a user in workspaces.
func FormerMembershipsOf(userID string) Prefix { return kindPrefix(userPK(userID), "FORMER") }

// MembershipCountKey returns the key of the item that counts the memberships of a user in workspaces.
func MembershipCountKey(userID string) Key { return newKey(userPK(userID), "MEMBERSHIPS") }

// InvitationsKey returns the key of the item that has the open invitations of a workspace.
func InvitationsKey(workspaceID string) Key { return newKey(workspacePK(workspaceID), "INVITATIONS") }

// InvitationKey returns the key of the item that maps the ID of an invitation to its workspace. It is stored under the
// invited user, to list the invitations of the user.
func InvitationKey(userID, invitationID string) Key {
	return idKey(userPK(userID), "INVITATION", id.Invitation, invitationID)
}

// AddressInvitationKey is like InvitationKey, for an invitation to an e-mail address.
func AddressInvitationKey(email, invitationID string) Key {
	return idKey(emailPK(email), "INVITATION", id.Invitation, invitationID)
}

// AddressInvitationsOf selects the invitations to an e-mail address, in the order of their creation.
func AddressInvitationsOf(email string) Prefix { return kindPrefix(emailPK(email), "INVITATION") }

// InvitationsOf selects the invitations of a user, in the order of their creation.
func InvitationsOf(userID string) Prefix { return kindPrefix(userPK(userID), "INVITATION") }

// ProjectKey returns the key of a project.
func ProjectKey(workspaceID, projectID string) Key {
	return idKey(workspacePK(workspaceID), "PROJECT", id.Project, projectID)
}

// ProjectsOf selects the projects of a workspace.
func ProjectsOf(workspaceID string) Prefix { return kindPrefix(workspacePK(workspaceID), "PROJECT") }

// SlugKey returns the key of the item that makes a slug unique in its workspace.
func SlugKey(workspaceID, slug string) Key {
	return newKey(workspacePK(workspaceID), join("SLUG", slug))
}

// LabelKey returns the key of the item that lists a label that is reserved for a workspace.
func LabelKey(workspaceID, label string) Key {
	return newKey(workspacePK(workspaceID), join("LABEL", label))
}

// LabelsOf selects the labels that are reserved for a workspace.
func LabelsOf(workspaceID string) Prefix { return kindPrefix(workspacePK(workspaceID), "LABEL") }

// SlugsOf selects the slugs of a workspace that begin with base.
func SlugsOf(workspaceID, base string) Prefix {
	return newPrefix(workspacePK(workspaceID), join("SLUG", base))
}

// TreeKey returns the key of the item that maps a project's ID to the project's workspace. The item also counts the
// project's files.
func TreeKey(projectID string) Key { return newKey(projectPK(projectID), "TREE") }

// VariablesKey returns the key of the variables of a project.
func VariablesKey(projectID string) Key { return newKey(projectPK(projectID), "VARIABLES") }

// ProjectPartition selects all items that are stored under the ID of a project, in any table.
func ProjectPartition(projectID string) Prefix { return Prefix{PK: projectPK(projectID)} }

// FileKey returns the key of a file by its validated path.
func FileKey(projectID, path string) Key { return newKey(projectPK(projectID), join("FILE", path)) }

// FilesOf selects the files of a project whose paths begin with prefix; "" selects all.
func FilesOf(projectID, prefix string) Prefix {
	return newPrefix(projectPK(projectID), "FILE"+separator+prefix)
}

// VersionKey returns the key of a replaced version of a file, by the SHA-256 of the file's path in hex.
func VersionKey(projectID, pathHash, version string) Key {
	return newKey(projectPK(projectID), join("VERSION", pathHash, version))
}

// VersionsOf selects the replaced versions of a file, in the order in which they were written.
func VersionsOf(projectID, pathHash string) Prefix {
	if pathHash == "" || strings.ContainsAny(pathHash, separator+"\x00") {
		return Prefix{}
	}
	return newPrefix(projectPK(projectID), "VERSION"+separator+pathHash+separator)
}

// AllVersionsOf selects the replaced versions of all files of a project.
func AllVersionsOf(projectID string) Prefix { return kindPrefix(projectPK(projectID), "VERSION") }

// UploadKey returns the key of an announced upload.
func UploadKey(projectID, uploadID string) Key {
	return idKey(projectPK(projectID), "UPLOAD", id.Upload, uploadID)
}

// UploadsOf selects the announced uploads of a project, in the order of their announcement.
func UploadsOf(projectID string) Prefix { return kindPrefix(projectPK(projectID), "UPLOAD") }

// CommentKey returns the key of a comment.
func CommentKey(projectID, commentID string) Key {
	return idKey(projectPK(projectID), "COMMENT", id.Comment, commentID)
}

// CommentsOf selects the comments of a project, in the order of their creation.
func CommentsOf(projectID string) Prefix { return kindPrefix(projectPK(projectID), "COMMENT") }

// ExportKey returns the key of an export of a project's files.
func ExportKey(projectID, exportID string) Key {
	return idKey(projectPK(projectID), "EXPORT", id.Export, exportID)
}

// DeploymentKey returns the key of a deployment.
func DeploymentKey(projectID, deploymentID string) Key {
	return idKey(projectPK(projectID), "DEPLOYMENT", id.Deployment, deploymentID)
}

// DeploymentsOf selects the deployments of a project, in the order of their creation.
func DeploymentsOf(projectID string) Prefix { return kindPrefix(projectPK(projectID), "DEPLOYMENT") }

// JobKey returns the key of the job for an export or a deployment, by the ID of the project or the user to which that
// record belongs, and by the ID of the record.
func JobKey(ownerID, recordID string) Key {
	record := cmp.Or(idPart(id.Export, recordID), idPart(id.Deployment, recordID))
	return newKey(cmp.Or(projectPK(ownerID), userPK(ownerID)), join("JOB", record))
}

// IsJob reports whether k is the key of a job.
func (k Key) IsJob() bool { return strings.HasPrefix(k.SK, "JOB"+separator) }

// DeploymentLogKey returns the key of the log of a deployment.
func DeploymentLogKey(projectID, deploymentID string) Key {
	return idKey(projectPK(projectID), "DEPLOYMENTLOG", id.Deployment, deploymentID)
}

// BuildsKey returns the key of the item with the builds in progress of an account, by the ID of its user.
func BuildsKey(userID string) Key { return newKey(userPK(userID), "BUILDS") }

// OutputKey returns the key of the item that counts the stored output of an account, by the ID of its user.
func OutputKey(userID string) Key { return newKey(userPK(userID), "OUTPUT") }

// SiteKey returns the key of the site of a project.
func SiteKey(projectID string) Key { return newKey(projectPK(projectID), "SITE") }

// AddressKey returns the key of the address of a site, by its label: the first part of the host name.
func AddressKey(label string) Key { return newKey(join("ADDRESS", label), "ADDRESS") }

// TrafficKey returns the key of the item that counts the bytes that the sites of an account served in a month, such as
// "2026-11".
func TrafficKey(accountID, month string) Key {
	return newKey(join("ACCOUNT", accountID), join("TRAFFIC", month))
}

// TrafficOf selects the counts of all months of an account.
func TrafficOf(accountID string) Prefix { return kindPrefix(join("ACCOUNT", accountID), "TRAFFIC") }

// ChunkKey returns the key of the chunk of a file's content.
func ChunkKey(projectID, contentID string) Key {
	if contentID == "" || strings.ContainsAny(contentID, separator+"\x00") {
		return Key{}
	}
	return newKey(projectPK(projectID), contentID+separator+"0")
}

// SweepKey returns the key of the item with the position of the sweep that removes objects without a record.
func SweepKey() Key { return newKey("SWEEP", "SWEEP") }

// ProjectEventKey returns the key of an event of a project.
func ProjectEventKey(projectID, eventID string) Key {
	return newKey(projectPK(projectID), idPart(id.Event, eventID))
}

// WorkspaceEventKey returns the key of a workspace's event that belongs to no project.
func WorkspaceEventKey(workspaceID, eventID string) Key {
	return newKey(workspacePK(workspaceID), idPart(id.Event, eventID))
}

// EventsOf selects the events of a project, in the order of their creation.
func EventsOf(projectID string) Prefix { return newPrefix(projectPK(projectID), string(id.Event)+"_") }

// WebhookKey returns the key of a webhook.
func WebhookKey(workspaceID, webhookID string) Key {
	return idKey(workspacePK(workspaceID), "WEBHOOK", id.Webhook, webhookID)
}

// WebhooksOf selects the webhooks of a workspace, in the order of their creation.
func WebhooksOf(workspaceID string) Prefix { return kindPrefix(workspacePK(workspaceID), "WEBHOOK") }

// WebhookCountKey returns the key of the item that counts the webhooks of a workspace.
func WebhookCountKey(workspaceID string) Key { return newKey(workspacePK(workspaceID), "WEBHOOKS") }

// WebhookAccountKey returns the key of the item that changes with each new webhook of an account, by the ID of its
// user.
func WebhookAccountKey(userID string) Key { return newKey(userPK(userID), "WEBHOOKS") }

// WebhookWorkspaceKey returns the key of the item that maps a webhook's ID to the webhook's workspace.
func WebhookWorkspaceKey(webhookID string) Key { return newKey(webhookPK(webhookID), "WEBHOOK") }

// WebhookPartition selects all items that are stored under the ID of a webhook.
func WebhookPartition(webhookID string) Prefix { return Prefix{PK: webhookPK(webhookID)} }

// DeliveryKey returns the key of a delivery.
func DeliveryKey(webhookID, deliveryID string) Key {
	return idKey(webhookPK(webhookID), "DELIVERY", id.Delivery, deliveryID)
}

// DeliveriesOf selects the deliveries of a webhook, in the order of their events' times.
func DeliveriesOf(webhookID string) Prefix { return kindPrefix(webhookPK(webhookID), "DELIVERY") }

// SummaryKey returns the key of the item that describes a conversation. It sorts after the messages, so that one
// descending Query of the partition reads it and the latest messages.
func SummaryKey(projectID string) Key { return newKey(projectPK(projectID), "SUMMARY") }

// MessageKey returns the key of the n-th part of a message, from 0 to 9.
func MessageKey(projectID, messageID string, n int) Key {
	if n < 0 || n > 9 {
		return Key{}
	}
	return newKey(projectPK(projectID), join("MSG", idPart(id.Message, messageID), strconv.Itoa(n)))
}

// MessagesOf selects the messages of a project's conversation, in the order of their creation.
func MessagesOf(projectID string) Prefix { return kindPrefix(projectPK(projectID), "MSG") }

// UsageKey returns the key of a user's usage of the assistant in a month, such as 2026-11.
func UsageKey(userID, month string) Key { return newKey(userPK(userID), join("USAGE", month)) }

// UsageOf selects a user's usage of the assistant in all months.
func UsageOf(userID string) Prefix { return kindPrefix(userPK(userID), "USAGE") }

// GlobalUsageKey returns the key of one shard of all users' usage of the assistant in a month, such as 2026-11. Each
// shard is in a partition of its own.
func GlobalUsageKey(month string, shard int) Key {
	return newKey(join("USERS", strconv.Itoa(shard)), join("USAGE", month))
}

// GenerationKey returns the key of the record of an answer that is generated for a user. messageID is the ID of the
// answer.
func GenerationKey(userID, messageID string) Key {
	return idKey(userPK(userID), "GENERATION", id.Message, messageID)
}

// GenerationsOf selects the records of the answers that are being generated for a user, or were recently generated.
func GenerationsOf(userID string) Prefix { return kindPrefix(userPK(userID), "GENERATION") }

// DueShards is the number of partitions of the webhooks table's index "due" whose items the retry job handles. More
// than one partition spreads the load.
const DueShards = 64

// DuePartition returns the partition key of a shard of the index "due". Shards count from 0.
func DuePartition(shard int) string { return "DUE" + separator + strconv.Itoa(shard) }

// SlowPartition returns the partition key, in the index "due", of the deliveries of a webhook that wait in the slow
// lane.
func SlowPartition(webhookID string) string { return join("SLOW", idPart(id.Webhook, webhookID)) }

// SlotsKey returns the key of the item that contains the slots of an account in the slow lane. An account is a user, or
// a workspace whose account is not known.
func SlotsKey(account string) Key { return newKey(join("ACCOUNT", account), "SLOTS") }
