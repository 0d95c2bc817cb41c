package s3

import (
	"errors"
	"fmt"
	"net/http"
	"syscall"

	"devplatform/infra/local/datafolder"
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
	errNotModified = failure(http.StatusNotModified, "NotModified", "Not Modified")

	errAuthMalformed   = failure(http.StatusBadRequest, "AuthorizationHeaderMalformed", "The Authorization header is not valid.")
	errQueryAuth       = failure(http.StatusBadRequest, "AuthorizationQueryParametersError", "The query parameters of the signature are not valid.")
	errBadDigest       = failure(http.StatusBadRequest, "BadDigest", "The Content-MD5 or checksum of the request does not match the received content.")
	errTooLarge        = failure(http.StatusBadRequest, "EntityTooLarge", "The upload is larger than the maximum size.")
	errTooSmall        = failure(http.StatusBadRequest, "EntityTooSmall", "A part other than the last one is smaller than 5 MiB.")
	errIncomplete      = failure(http.StatusBadRequest, "IncompleteBody", "The request does not have as many bytes as its headers say.")
	errInvalidArgument = failure(http.StatusBadRequest, "InvalidArgument", "An argument is not valid.")
	errBucketName      = failure(http.StatusBadRequest, "InvalidBucketName", "The specified bucket is not valid.")
	errInvalidDigest   = failure(http.StatusBadRequest, "InvalidDigest", "The Content-MD5 is not valid.")
	errInvalidPart     = failure(http.StatusBadRequest, "InvalidPart", "A part was not uploaded, or has another entity tag or checksum.")
	errPartOrder       = failure(http.StatusBadRequest, "InvalidPartOrder", "The list of parts is not in ascending order.")
	errInvalidRequest  = failure(http.StatusBadRequest, "InvalidRequest", "The request is not valid.")
	errInvalidURI      = failure(http.StatusBadRequest, "InvalidURI", "The URI of the request cannot be parsed.")
	errKeyTooLong      = failure(http.StatusBadRequest, "KeyTooLongError", "The key is longer than 1,024 bytes.")
	errMalformedXML    = failure(http.StatusBadRequest, "MalformedXML", "The XML is not well-formed, or is not what the operation expects.")
	errContentHash     = failure(http.StatusBadRequest, "XAmzContentSHA256Mismatch", "The x-amz-content-sha256 header does not match the received content.")
	errToken           = failure(http.StatusBadRequest, "InvalidToken", "The local platform has no session tokens.")

	errAccessDenied = failure(http.StatusForbidden, "AccessDenied", "Access Denied")
	errCORS         = failure(http.StatusForbidden, "AccessForbidden", "CORSResponse: no CORS rule of the bucket allows this request.")
	errUnknownKey   = failure(http.StatusForbidden, "InvalidAccessKeyId", "The access key ID is not known. The credentials of the local platform are local and local.")
	errSkewed       = failure(http.StatusForbidden, "RequestTimeTooSkewed", "The time of the request differs from the current time by more than 15 minutes.")
	errSignature    = failure(http.StatusForbidden, "SignatureDoesNotMatch", "The signature does not match the request. The secret key of the local platform is local.")

	errNoBucket    = failure(http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist.")
	errNoCORS      = failure(http.StatusNotFound, "NoSuchCORSConfiguration", "The bucket has no CORS configuration.")
	errNoKey       = failure(http.StatusNotFound, "NoSuchKey", "The specified key does not exist.")
	errNoLifecycle = failure(http.StatusNotFound, "NoSuchLifecycleConfiguration", "The bucket has no lifecycle configuration.")
	errNoUpload    = failure(http.StatusNotFound, "NoSuchUpload", "The multipart upload does not exist. It may have been completed or aborted.")

	errNoLength     = failure(http.StatusLengthRequired, "MissingContentLength", "The Content-Length header is missing.")
	errPrecondition = failure(http.StatusPreconditionFailed, "PreconditionFailed", "At least one of the preconditions that were specified did not hold.")
	errRange        = failure(http.StatusRequestedRangeNotSatisfiable, "InvalidRange", "The requested range is not satisfiable.")
	errInternal     = failure(http.StatusInternalServerError, "InternalError", "An internal error occurred.")
	errUnsupported  = failure(http.StatusNotImplemented, "NotImplemented", "The local platform does not support this.")
	errUnavailable  = failure(http.StatusServiceUnavailable, "ServiceUnavailable", "The store is closed.")
	errFullDisk     = failure(http.StatusServiceUnavailable, "ServiceUnavailable", "The disk is full.")
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
	case errors.Is(err, datafolder.ErrFull), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return errFullDisk
	}
	s.options.Logger.Error("s3: request", "error", err)
	return errInternal
}
