package s3

import (
	"errors"
	"fmt"
	"syscall"
)

// apiError is an error response with a code of S3.
type apiError struct {
	status        int
	code, message string
}

// Error returns the code and the message.
func (e *apiError) Error() string { return e.code + ": " + e.message }

// with returns the error with another message.
func (e *apiError) with(format string, args ...any) error {
	return &apiError{e.status, e.code, fmt.Sprintf(format, args...)}
}

func failure(status int, code, message string) *apiError { return &apiError{status, code, message} }

// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
var (
	errNotModified   = failure(304, "NotModified", "Not Modified")
	errAuthMalformed = failure(400, "AuthorizationHeaderMalformed", "The Authorization header is not valid.")
	errQueryAuth     = failure(400, "AuthorizationQueryParametersError",
		"The query parameters of the signature are not valid.")
	errBadDigest = failure(400, "BadDigest",
		"The Content-MD5 or checksum of the request does not match the received content.")
	errTooLarge        = failure(400, "EntityTooLarge", "The upload is larger than the maximum size.")
	errIncomplete      = failure(400, "IncompleteBody", "The request does not have as many bytes as its headers declare.")
	errInvalidArgument = failure(400, "InvalidArgument", "An argument is not valid.")
	errBucketName      = failure(400, "InvalidBucketName", "The specified bucket is not valid.")
	errInvalidDigest   = failure(400, "InvalidDigest", "The Content-MD5 is not valid.")
	errInvalidRequest  = failure(400, "InvalidRequest", "The request is not valid.")
	errInvalidURI      = failure(400, "InvalidURI", "The URI of the request cannot be parsed.")
	errKeyTooLong      = failure(400, "KeyTooLongError", "The key is longer than 1,024 bytes.")
	errMalformedXML    = failure(400, "MalformedXML",
		"The XML is not well-formed, or is not what the operation expects.")
	errContentHash = failure(400, "XAmzContentSHA256Mismatch",
		"The x-amz-content-sha256 header does not match the received content.")
	errToken        = failure(400, "InvalidToken", "The local platform has no session tokens.")
	errAccessDenied = failure(403, "AccessDenied", "Access Denied")
	errCORS         = failure(403, "AccessForbidden", "CORSResponse: no CORS rule of the bucket allows this request.")
	errUnknownKey   = failure(403, "InvalidAccessKeyId",
		"The access key ID is not known. The credentials of the local platform are local and local.")
	errSkewed = failure(403, "RequestTimeTooSkewed",
		"The time of the request differs from the current time by more than 15 minutes.")
	errSignature = failure(403, "SignatureDoesNotMatch",
		"The signature does not match the request. The secret key of the local platform is local.")
	errNoBucket     = failure(404, "NoSuchBucket", "The specified bucket does not exist.")
	errNoCORS       = failure(404, "NoSuchCORSConfiguration", "The bucket has no CORS configuration.")
	errNoKey        = failure(404, "NoSuchKey", "The specified key does not exist.")
	errNoLifecycle  = failure(404, "NoSuchLifecycleConfiguration", "The bucket has no lifecycle configuration.")
	errNoLength     = failure(411, "MissingContentLength", "The Content-Length header is missing.")
	errPrecondition = failure(412, "PreconditionFailed",
		"At least one of the preconditions that were specified did not hold.")
	errRange       = failure(416, "InvalidRange", "The requested range is not satisfiable.")
	errInternal    = failure(500, "InternalError", "An internal error occurred.")
	errUnsupported = failure(501, "NotImplemented", "The local platform does not support this.")
	errUnavailable = failure(503, "ServiceUnavailable", "The store is closed.")
	errFullDisk    = failure(503, "ServiceUnavailable", "The disk is full.")
)

// errorDocument is the body of an error response.
type errorDocument struct{ Code, Message, Resource, RequestId string } //nolint:revive // names of the elements

// toAPIError returns the response for an error. An error that is not an apiError is logged, because it is a fault of
// the platform.
func (s *Store) toAPIError(err error) *apiError {
	var known *apiError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return errFullDisk
	}
	s.options.Logger.Error("s3: request", "error", err)
	return errInternal
}
