// SPDX-License-Identifier: Apache-2.0
#include "ports/s3_signature.h"

#include "ports/aws_signature.h"

namespace firn::ports {

Status SignForS3(HttpRequest& request, const S3Keys& keys, const std::string& region, TimestampMs now) {
  const AwsSigner signer{.access_key_id = keys.access_key_id,
                         .secret_access_key = keys.secret_access_key,
                         .session_token = keys.session_token,
                         .region = region,
                         .service = "s3",
                         .takes_path_as_it_stands = true};
  return signer.Sign(request, now);
}

}  // namespace firn::ports
