package dynamodb

import "github.com/cockroachdb/pebble/v2"

// What of an item a stream's records show.
const (
	viewKeys = "KEYS_ONLY"
	viewNew  = "NEW_IMAGE"
	viewOld  = "OLD_IMAGE"
	viewBoth = "NEW_AND_OLD_IMAGES"
)

var streamViews = []string{viewNew, viewOld, viewBoth, viewKeys}

// streamSpec switches a stream on or off.
type streamSpec struct {
	StreamEnabled  *bool
	StreamViewType string
}

func (s *streamSpec) checkMembers(v *violations) {
	if s == nil {
		return
	}
	v.required(s.StreamEnabled != nil, "streamSpecification.streamEnabled")
	v.enum(s.StreamViewType, "streamSpecification.streamViewType", streamViews)
}

// enabled says whether a new table has a stream.
func (s *streamSpec) enabled() bool { return s != nil && *s.StreamEnabled }

// checkNew checks the stream of a new table. AWS calls the view type by a name
// that its API does not have.
func (s *streamSpec) checkNew() error {
	switch {
	case s.enabled() && s.StreamViewType == "":
		return invalidParameters("Table is being created with a stream enabled, UpdateViewType is required")
	case s != nil && !s.enabled() && s.StreamViewType != "":
		return invalidParameters("Table is being created with a stream disabled, UpdateViewType should not be specified")
	}
	return nil
}

// checkStream checks the stream of an UpdateTable.
func (in *updateTableRequest) checkStream() error {
	s := in.StreamSpecification
	if s == nil {
		return nil
	}
	if s.enabled() && s.StreamViewType == "" {
		return invalidParameters("If stream is being enabled then UpdateViewType is required")
	}
	if !s.enabled() && s.StreamViewType != "" {
		return invalidParameters("If stream is being disabled, then UpdateViewType must not be specified")
	}
	if in.ProvisionedThroughput != nil {
		return invalidParameters("You cannot modify stream status while updating table IOPS")
	}
	for _, update := range in.GlobalSecondaryIndexUpdates {
		if update.Create != nil || update.Delete != nil {
			return invalidParameters("You cannot create or delete index while changing stream status")
		}
	}
	return nil
}

// switchStream begins or ends a table's stream.
func (db *DB) switchStream(batch *pebble.Batch, t *tableRecord, spec *streamSpec) (*streamChange, error) {
	switch {
	case spec == nil:
		return nil, nil
	case spec.enabled() && t.StreamView != "":
		return nil, invalid("Table already has an enabled stream: TableName: %s", t.Name)
	case spec.enabled():
		return db.startStream(batch, t, spec.StreamViewType)
	case t.StreamView == "":
		return nil, invalid("Table has no stream to disable: TableName: %s", t.Name)
	}
	return db.endStream(batch, t)
}

// streamSummary is a table's stream in the table's description.
type streamSummary struct {
	StreamEnabled  bool
	StreamViewType string
}

// describeStreamOf adds a table's stream to its description: the settings while
// it is enabled, the name of the latest for ever.
func (db *DB) describeStreamOf(t *table, d *tableDescription) {
	if t.StreamView != "" {
		d.StreamSpecification = &streamSummary{StreamEnabled: true, StreamViewType: t.StreamView}
	}
	if t.StreamLabel != "" {
		d.LatestStreamLabel = t.StreamLabel
		d.LatestStreamArn = db.streamARN(t.Name, t.StreamLabel)
	}
}
