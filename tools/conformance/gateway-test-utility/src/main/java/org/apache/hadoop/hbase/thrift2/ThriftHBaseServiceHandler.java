package org.apache.hadoop.hbase.thrift2;

import hblite.conformance.gateways.Gateways;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.security.UserProvider;
import org.apache.hadoop.hbase.thrift2.generated.THBaseService;
import org.apache.hadoop.hbase.thrift2.generated.TIOError;
import org.apache.thrift.TBase;
import org.apache.thrift.TException;
import org.apache.thrift.TFieldIdEnum;

/** Replaces HBase's handler: a client of the cluster's gateway for Thrift 2. */
public class ThriftHBaseServiceHandler extends THBaseService.Client {
  /** The field of the declared exception in the result of every method. */
  private static final int ERROR = 1;

  public ThriftHBaseServiceHandler(Configuration configuration, UserProvider users) {
    super(Gateways.THRIFT2.connect(configuration));
  }

  @Override
  protected void receiveBase(TBase<?, ?> result, String method) throws TException {
    super.receiveBase(result, method);
    addCause(result);
  }

  /** HBase's handler has the cause; of its class only {@code canRetry} is sent. */
  private static <F extends TFieldIdEnum> void addCause(TBase<?, F> result) {
    F field = result.fieldForId(ERROR);
    if (field != null
        && result.getFieldValue(field) instanceof TIOError error
        && error.isSetCanRetry()
        && !error.isCanRetry()) {
      error.initCause(new DoNotRetryIOException(error.getMessage()));
    }
  }
}
