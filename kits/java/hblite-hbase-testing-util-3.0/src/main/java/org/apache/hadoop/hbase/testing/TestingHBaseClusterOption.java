package org.apache.hadoop.hbase.testing;

import java.util.List;
import org.apache.hadoop.conf.Configuration;

/**
 * HBase's options for clusters in tests. Of these, hblite follows the configuration and the number
 * of region servers; it has one master, no HDFS and its own ZooKeeper.
 */
public final class TestingHBaseClusterOption {
  private final Builder values;

  private TestingHBaseClusterOption(Builder values) {
    this.values = values;
  }

  /** Options to set. */
  public static Builder builder() {
    return new Builder();
  }

  public Configuration conf() {
    return values.conf;
  }

  public int getNumMasters() {
    return values.numMasters;
  }

  public int getNumAlwaysStandByMasters() {
    return values.numAlwaysStandByMasters;
  }

  public int getNumRegionServers() {
    return values.numRegionServers;
  }

  public List<Integer> getRsPorts() {
    return values.rsPorts;
  }

  public int getNumDataNodes() {
    return values.numDataNodes;
  }

  public String[] getDataNodeHosts() {
    return values.dataNodeHosts;
  }

  public int getNumZkServers() {
    return values.numZkServers;
  }

  public boolean isCreateRootDir() {
    return values.createRootDir;
  }

  public boolean isCreateWALDir() {
    return values.createWALDir;
  }

  public String getExternalDfsUri() {
    return null;
  }

  public String getExternalZkConnectString() {
    return null;
  }

  @Override
  public String toString() {
    return "TestingHBaseClusterOption{numRegionServers=" + values.numRegionServers + "}";
  }

  /** Sets options. */
  public static final class Builder {
    private Configuration conf;
    private int numMasters = 1;
    private int numAlwaysStandByMasters;
    private int numRegionServers = 1;
    private List<Integer> rsPorts;
    private int numDataNodes = 1;
    private String[] dataNodeHosts;
    private int numZkServers = 1;
    private boolean createRootDir;
    private boolean createWALDir;

    private Builder() {}

    /** The options so far. */
    public TestingHBaseClusterOption build() {
      Builder copy = new Builder();
      copy.conf = conf;
      copy.numMasters = numMasters;
      copy.numAlwaysStandByMasters = numAlwaysStandByMasters;
      copy.numRegionServers = numRegionServers;
      copy.rsPorts = rsPorts;
      copy.numDataNodes = numDataNodes;
      copy.dataNodeHosts = dataNodeHosts;
      copy.numZkServers = numZkServers;
      copy.createRootDir = createRootDir;
      copy.createWALDir = createWALDir;
      return new TestingHBaseClusterOption(copy);
    }

    public Builder conf(Configuration conf) {
      this.conf = conf;
      return this;
    }

    public Builder numMasters(int numMasters) {
      this.numMasters = numMasters;
      return this;
    }

    public Builder numAlwaysStandByMasters(int numAlwaysStandByMasters) {
      this.numAlwaysStandByMasters = numAlwaysStandByMasters;
      return this;
    }

    public Builder numRegionServers(int numRegionServers) {
      this.numRegionServers = numRegionServers;
      return this;
    }

    public Builder rsPorts(List<Integer> rsPorts) {
      this.rsPorts = rsPorts;
      return this;
    }

    public Builder numDataNodes(int numDataNodes) {
      this.numDataNodes = numDataNodes;
      return this;
    }

    public Builder dataNodeHosts(String[] dataNodeHosts) {
      this.dataNodeHosts = dataNodeHosts;
      return this;
    }

    public Builder numZkServers(int numZkServers) {
      this.numZkServers = numZkServers;
      return this;
    }

    public Builder createRootDir(boolean createRootDir) {
      this.createRootDir = createRootDir;
      return this;
    }

    public Builder createWALDir(boolean createWALDir) {
      this.createWALDir = createWALDir;
      return this;
    }

    /** hblite does not use another file system: not supported. */
    public Builder useExternalDfs(String uri) {
      throw new UnsupportedOperationException("hblite uses no HDFS: " + uri);
    }

    /** hblite has its own ZooKeeper: not supported. */
    public Builder useExternalZooKeeper(String connectString) {
      throw new UnsupportedOperationException("hblite uses no other ZooKeeper: " + connectString);
    }
  }
}
