import React, { useCallback } from 'react';
import useDocusaurusContext from '@docusaurus/useDocusaurusContext';
import SearchBar from 'pg-docsearch-search-components/SearchBar';

export default function DocsearchBar(props) {
  const { server } = useDocusaurusContext().siteConfig.themeConfig.docsearch;
  const transformSearchClient = useCallback(
    (client) => {
      const { protocol, host, pathname } = new URL(server);
      const url = host + pathname.replace(/\/$/, '');
      client.transporter.hosts.splice(0, Infinity, { protocol: protocol.slice(0, -1), url, accept: 'readWrite' });
      return client;
    },
    [server],
  );
  return React.createElement(SearchBar, { ...props, transformSearchClient });
}
