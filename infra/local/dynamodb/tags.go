package dynamodb

import (
	"slices"
	"strings"
)

type tagRequest struct {
	ResourceArn *string
	Tags        []tag
}

type untagRequest struct {
	ResourceArn *string
	TagKeys     []string
}

type listTagsRequest struct {
	ResourceArn *string
	NextToken   *string
}

type listTagsResponse struct {
	Tags []tag
}

type emptyResponse struct{}

const maxTags = 50

// taggable finds the table with an ARN.
func (db *DB) taggable(arn *string) (*table, error) {
	if arn == nil {
		return nil, invalid("Invalid TableArn")
	}
	prefix := db.tableARN("")
	name, ok := strings.CutPrefix(*arn, prefix)
	if !ok {
		return nil, invalid("Invalid TableArn: Invalid ResourceArn provided as input %s", *arn)
	}
	t, ok := db.tables[name]
	if !ok {
		return nil, &apiError{Type: typeNotFound, Message: "Requested resource not found: ResourcArn: " + *arn + " not found"}
	}
	return t, nil
}

func (db *DB) tagResource(in *tagRequest) (*emptyResponse, error) {
	db.catalog.Lock()
	defer db.catalog.Unlock()
	t, err := db.taggable(in.ResourceArn)
	if err != nil {
		return nil, err
	}
	if len(in.Tags) == 0 {
		return nil, invalid("Atleast one Tag needs to be provided as Input.")
	}
	tags := slices.Clone(t.Tags)
	for _, added := range in.Tags {
		tags = slices.DeleteFunc(tags, func(old tag) bool { return old.Key == added.Key })
		tags = append(tags, added)
	}
	if len(tags) > maxTags {
		return nil, &apiError{Type: typeLimitExceeded, Message: "Subscriber limit exceeded: There is a limit of 50 tags per resource"}
	}
	return &emptyResponse{}, db.saveTags(t, tags)
}

func (db *DB) untagResource(in *untagRequest) (*emptyResponse, error) {
	db.catalog.Lock()
	defer db.catalog.Unlock()
	t, err := db.taggable(in.ResourceArn)
	if err != nil {
		return nil, err
	}
	if len(in.TagKeys) == 0 {
		return nil, invalid("Atleast one Tag Key needs to be provided as Input.")
	}
	tags := slices.DeleteFunc(slices.Clone(t.Tags), func(old tag) bool { return slices.Contains(in.TagKeys, old.Key) })
	return &emptyResponse{}, db.saveTags(t, tags)
}

func (db *DB) saveTags(t *table, tags []tag) error {
	batch := db.folder.DB.NewBatch()
	defer discard(batch)
	record := t.tableRecord
	record.Tags = tags
	_, err := db.saveTable(batch, record, nil)
	return err
}

func (db *DB) listTagsOfResource(in *listTagsRequest) (*listTagsResponse, error) {
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	t, err := db.taggable(in.ResourceArn)
	if err != nil {
		return nil, err
	}
	return &listTagsResponse{Tags: append([]tag{}, t.Tags...)}, nil
}

type limitsResponse struct {
	AccountMaxReadCapacityUnits  int64
	AccountMaxWriteCapacityUnits int64
	TableMaxReadCapacityUnits    int64
	TableMaxWriteCapacityUnits   int64
}

// describeLimits answers with a new account's quotas; nothing here is throttled.
func (db *DB) describeLimits(*emptyResponse) (*limitsResponse, error) {
	return &limitsResponse{80_000, 80_000, 40_000, 40_000}, nil
}

type endpoint struct {
	Address              string
	CachePeriodInMinutes int64
}

type endpointsResponse struct {
	Endpoints []endpoint
}

// describeEndpoints names the regional endpoint. SDKs only ask when endpoint
// discovery is switched on, which a custom endpoint forbids.
func (db *DB) describeEndpoints(*emptyResponse) (*endpointsResponse, error) {
	const day = 1440
	return &endpointsResponse{[]endpoint{{"dynamodb." + db.options.Region + ".amazonaws.com", day}}}, nil
}
